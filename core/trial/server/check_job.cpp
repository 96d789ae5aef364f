#include "core/trial/server/check_job.h"

#include <ATen/Parallel.h>

#include "core/registry/library.h"
#include "core/trial/conformance/suite.h"

namespace ablate {

void run_check_job(const nlohmann::json& spec, const Say& say) {
  at::set_num_threads(1);  // CPU time is then the time of one core
  Examinee examinee{.plugin = load_library(spec.at("library").get<std::string>()),
                    .parameters = spec.at("parameters"),
                    .scratch = spec.at("scratch").get<std::string>(),
                    .timed = spec.at("timed")};
  for (const auto& path : spec.at("parts")) examinee.parts.push_back(&load_library(path.get<std::string>()));
  Checks checks(
      [&](const std::string& name, const std::string& on) {
        say({{"begin", name}, {"on", on}});
      },
      [&](const Check& check) {
        if (!check.skipped.empty()) return say({{"check", check.name}, {"on", check.on}, {"skipped", check.skipped}});
        say({{"check", check.name},
             {"on", check.on},
             {"passed", check.passed},
             {"found", check.found},
             {"error", check.error},
             {"tolerance", check.tolerance}});
      });
  check_plugin(examinee, checks);
}

}  // namespace ablate
