#include "core/trial/server/said_checks.h"

#include "core/shared/jobs.h"

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

}  // namespace ablate
