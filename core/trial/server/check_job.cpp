#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "ablate/task.h"
#include "core/registry/values.h"
#include "core/trial/audit/audit.h"
#include "core/trial/conformance/plugin/plugin_checks.h"
#include "core/trial/conformance/plugin/suite.h"
#include "core/trial/device/tensor_memory.h"
#include "core/trial/model/instances.h"
#include "core/trial/server/checker_jobs.h"
#include "core/trial/server/planned_library.h"
#include "core/util/nearest.h"
#include "core/util/one_line.h"
#include "core/util/shell_word.h"

namespace ablate {
namespace {

/// Loads a library with the hash that the host knows. Throws Error, which does not blame the plugin, if the file has changed.
const Descriptor& planned(const std::string& path, const std::map<std::string, std::string>& hashes) try {
  return load_as_planned(path, hashes);
} catch (const LibraryReplaced& replaced) {
  throw Error(replaced.what());
}

/// Returns why a task cannot be made or described here; "" if it can, or if it fails with another exception than runtime_error.
/// Throws std::invalid_argument if the task refuses parameters that were set.
std::string refusal_of(const Examinee& examinee) {
  const auto folder = examinee.scratch / "made";
  std::filesystem::create_directories(folder);
  const auto section = complete_section(examinee.plugin, examinee.parameters, {});
  const JsonValues values(plugin_from_json(section), describe(examinee.plugin));
  try {
    if (const auto made = examinee.plugin.make_task({values, folder, 1})) made->info();
  } catch (const std::runtime_error& error) {
    return one_line(error.what());
  } catch (const std::invalid_argument&) {
    if (!examinee.parameters.empty()) throw;
  } catch (...) {
  }
  return "";
}

std::string cannot_be_made(const Examinee& examinee, const char* where, const std::string& why) {
  std::string set;
  for (const auto& [name, value] : examinee.parameters.items())
    set += fmt::format("{}{} = {}", set.empty() ? "" : ", ", name, value.dump());
  return fmt::format("--set {}: {} cannot be made with these values{}: {}", set, examinee.plugin.id, where, one_line(why));
}

/// Returns the error of the request: a name that no check has, or parameters that cannot be used; "" if none.
std::string request_error(const Examinee& examinee, const std::set<std::string>& only) {
  const auto known = check_names(), audited = audit_names();
  for (const auto& name : only)
    if (std::find(audited.begin(), audited.end(), name) != audited.end())
      return fmt::format("--only {}: expected a check of the contract; `ablate audit {}` runs this check", shell_word(name),
                         examinee.plugin.kind == Kind::kTask ? examinee.plugin.id : "TASK");
    else if (std::find(known.begin(), known.end(), name) == known.end())
      return fmt::format("--only {}: there is no check {}{}; docs/checks.md lists them", name, name, hint(name, known));
  if (examinee.parameters.empty() || examinee.timed) return "";
  const auto why = refused_parameters(examinee);
  return why.empty() ? "" : cannot_be_made(examinee, " at the suite's sizes (d_model = 16, up to 4100 tokens)", why);
}

void run_check_job(LoadedParts&, const CheckJob& job, const Say& say) {
  at::set_num_threads(1);  // CPU time is then the time of one core
  keep_freed_memory();     // like a trial, because otherwise half of the time goes into zeroing pages
  Examinee examinee{.plugin = planned(job.library, job.hashes),
                    .parameters = job.parameters,
                    .scratch = job.scratch,
                    .timed = job.timed,
                    .quick = job.quick,
                    .device = job.device,
                    .length = job.length,
                    .elsewhere = audit_names()};
  for (const auto& path : job.parts) examinee.parts.push_back(&planned(path, job.hashes));
  auto checks = checks_that(say);
  const std::set<std::string> only(job.only.begin(), job.only.end());
  if (const auto why = request_error(examinee, only); !why.empty()) return say(to_json(CheckRefused{why}));
  if (examinee.plugin.kind == Kind::kTask) {
    say(to_json(CheckBegun{"data", examinee.plugin.id, {}}));
    try {
      if (const auto why = refusal_of(examinee); !why.empty()) return checks.leave("data", examinee.plugin.id, why);
    } catch (const std::invalid_argument& refused) {
      return say(to_json(CheckRefused{cannot_be_made(examinee, "", refused.what())}));
    }
  }
  checks.only(only);  // not earlier, because missing data are reported for every selection
  check_plugin(examinee, checks);
  say(to_json(CheckEnded{checks.lengths()}));  // the host expects an answer even if no check ran
}

}  // namespace

const NamedHandler check_job = handler<CheckJob, run_check_job>();

}  // namespace ablate
