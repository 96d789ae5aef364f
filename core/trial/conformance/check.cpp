#include "core/trial/conformance/check.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/util/one_line.h"

namespace ablate {

void Checks::run(const std::string& name, const std::string& on, double tolerance, const Measure& measure) {
  if (begin_) begin_(name, on);
  Check check{name, on, false, {}, {}, std::numeric_limits<double>::infinity(), tolerance};
  try {
    std::string where;
    check.error = measure(where);
    check.passed = check.error <= tolerance;  // NaN does not pass
    if (!std::isfinite(check.error)) {
      check.found = "a wrong shape or type, or a number that is not finite";
    } else if (check.passed && tolerance == 0) {
      check.found = where.empty() ? "as it should be" : "";
    } else {
      check.found = fmt::format("off by {:.2g}, {:.2g} allowed", check.error, tolerance);
    }
    if (!where.empty()) check.found += (check.found.empty() ? "" : ": ") + where;
  } catch (const c10::Error& error) {
    check.found = one_line(error.what_without_backtrace());
  } catch (const std::exception& error) {
    check.found = one_line(error.what());
  } catch (...) {
    check.found = "an exception that is no std::exception";
  }
  all_.push_back(check);
  if (end_) end_(check);
}

void Checks::skip(const std::string& name, const std::string& on, const std::string& why) {
  all_.push_back({.name = name, .on = on, .skipped = one_line(why)});
  if (end_) end_(all_.back());
}

}  // namespace ablate
