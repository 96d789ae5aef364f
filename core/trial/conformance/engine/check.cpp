#include "core/trial/conformance/engine/check.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "core/trial/conformance/engine/finding.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

/// True if the message is the system's text for a full disk. A full disk is no fault of the plugin: the suite chose the folder.
bool says_disk_is_full(const std::string& what) {
  return what.find(std::strerror(ENOSPC)) != std::string::npos || what.find(std::strerror(EDQUOT)) != std::string::npos;
}

}  // namespace

void Checks::run(const std::string& name, const std::string& on, const Allowed& allowed, const Look& look) {
  if (!wanted(name)) return;
  if (begin_) begin_(name, on, with_);
  Check check{name, on, Verdict::kFailed, {}, std::numeric_limits<double>::infinity(), allowed.error};
  std::vector<std::string> left;
  try {
    Finding finding(allowed, stops_);
    finding.take(look);
    left = finding.left();
    if (!finding.looked()) {
      if (left.empty()) left.emplace_back("it found nothing to look at");
      for (const auto& why : left) leave(name, on, why);
      return;
    }
    if (finding.passed()) check.verdict = Verdict::kPassed;
    check.found = one_line(finding.text());
    check.error = finding.error();
    check.tolerance = finding.tolerance();
    check.why = finding.why();
  } catch (const c10::Error& error) {
    check.found = one_line(error.what_without_backtrace());
  } catch (const CannotLook& error) {
    return leave(name, on, error.what());
  } catch (const std::exception& error) {
    if (says_disk_is_full(error.what())) return leave(name, on, error.what());
    check.found = one_line(error.what());
  } catch (...) {
    check.found = "an exception that is no std::exception";
  }
  if (check.failed() && judge_) judge_(check);
  keep(std::move(check));
  for (const auto& why : left) leave(name, on, why);
}

void Checks::keep(Check check) {
  all_.push_back(std::move(check));
  if (end_) end_(all_.back());
}

void Checks::leave(const std::string& name, const std::string& on, const std::string& why) {
  if (!wanted(name)) return;
  keep({.name = name, .on = on, .found = one_line(why)});
}

void Checks::looked_at(const std::string& name, const std::map<std::string, std::int64_t>& lengths) {
  if (std::any_of(all_.begin(), all_.end(), [&](const Check& check) { return check.name == name && check.passed(); }))
    lengths_ = lengths;
}

}  // namespace ablate
