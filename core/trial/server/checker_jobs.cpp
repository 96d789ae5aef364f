#include "core/trial/server/checker_jobs.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "core/shared/jobs.h"
#include "core/trial/server/planned_library.h"
#include "core/trial/server/task_files.h"
#include "core/util/error.h"

namespace ablate {
namespace {

CheckResult result_of(const Check& check) {
  CheckResult result{.check = check.name,
                     .on = check.on,
                     .verdict = check.passed()   ? "passed"
                                : check.failed() ? "failed"
                                                 : "unchecked",
                     .found = check.found,
                     .why = check.why,
                     .part = check.part};
  if (check.passed() || check.failed()) result.error = check.error, result.tolerance = check.tolerance;
  return result;
}

}  // namespace

Checks checks_that(const Say& say) {
  return {[&](const std::string& name, const std::string& on, const std::vector<std::string>& with) {
            say(to_json(CheckBegun{name, on, with}));
          },
          [&](const Check& check) { say(to_json(result_of(check))); }};
}

std::unique_ptr<Task> audited_data(LoadedParts& loaded, const Libraries& libraries, const PluginSpec& section,
                                   const std::string& digest) {
  at::set_num_threads(1);
  try {
    loaded.load(libraries);
  } catch (const LibraryReplaced& replaced) {
    throw Error(replaced.what());  // other code: the data are not to blame
  }
  auto made = loaded.make_task(section, all_cores());
  made->info();
  made->load();
  if (made->digest() != digest)
    throw Error(fmt::format("the data of {} have changed since their digest was computed: run the command again", section.id));
  return made;
}

}  // namespace ablate
