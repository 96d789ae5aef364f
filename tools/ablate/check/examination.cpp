#include "tools/ablate/check/examination.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "db/report/format.h"
#include "tools/ablate/wrapped.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Share of the time limit that a timed-out job must have spent on a processor to count as failed. The longest check of a
/// plugin of the tree takes less than half of its time limit.
constexpr double kBusyShare = 0.5;

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.2g}", value) : "-"; }

/// Returns about the width of the longest name among a kind's checks.
int name_width(Kind kind) { return kind == Kind::kTask ? 32 : 14; }

std::string columns_of(const std::string& verdict, const std::string& check, Kind kind, const std::string& error,
                       const std::string& tolerance) {
  return fmt::format("  {:<9}  {:<{}}  {:>8}  {:>8}  ", verdict, check, name_width(kind), error, tolerance);
}

std::string line_of(const CheckResult& check, Kind kind) {
  auto found = check.found;
  const auto numbers = fmt::format("off by {:.2g}, {:.2g} allowed", check.error, check.tolerance);  // columns show both
  if (found.starts_with(numbers)) found.erase(0, std::min(found.size(), numbers.size() + 2));
  if (check.verdict == "failed" && !check.why.empty()) found += "; reason for the tolerance: " + check.why;
  constexpr std::size_t indent = 13;  // below the check's name
  const auto columns = columns_of(check.verdict == "failed" ? "FAILED" : check.verdict, check.check, kind, number(check.error),
                                  number(check.tolerance));
  return columns + wrapped(db::one_row(fmt::format("{}: {}", check.on, found)), indent, db::width(columns)) + "\n";
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

StoredVerdict verdict_of(const std::vector<CheckResult>& checks) {
  StoredVerdict verdict;
  bool any = false;
  for (const auto& check : checks) {
    const bool unchecked = check.verdict == "unchecked";
    any = any || !unchecked;
    if (unchecked) add_once(verdict.unchecked, check.check);
    if (check.verdict == "failed") add_once(verdict.failed, check.check);
  }
  if (any) verdict.verdict = verdict.failed.empty() ? "passed" : "failed";
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  verdict.checked_s = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return verdict;
}

}  // namespace

std::string Examination::heading(Kind kind) {
  return columns_of("", "check", kind, "off by", "allowed") + "on: what was found\n";
}

void Examination::take(const CheckResult& check) {
  if (known_ > 0) {
    --known_;
    return;
  }
  checks_.push_back(check);
  tell_(line_of(check, info_.kind));
}

void Examination::hear(const CheckSaid& said) {
  if (const auto* refused = std::get_if<CheckRefused>(&said)) refused_ = refused->refused;
  if (const auto* ended = std::get_if<CheckEnded>(&said)) add_lengths(lengths_, ended->lengths);
  if (const auto* begun = std::get_if<CheckBegun>(&said)) begun_ = *begun;
  if (const auto* check = std::get_if<CheckResult>(&said)) {
    begun_.reset();
    take(*check);
  }
}

void Examination::end(const JobOutcome& outcome, const std::string& failed, int timeout_s) {
  ran_out_of_time_ = outcome.late() && outcome.cpu_s < kBusyShare * timeout_s;
  if (outcome.broken_off() || ran_out_of_time_)
    return break_off(
        begun_.value_or(CheckBegun{"load", "", {}}),
        fmt::format("broken off: {}; the checks after this one did not run, and no verdict is stored",
                    ran_out_of_time_ ? fmt::format("{}, and used {:.1f} s of processor time: the machine is busy, or the "
                                                   "plugin waits; --timeout allows more",
                                                   failed, outcome.cpu_s)
                                     : failed));
  std::string why;
  if (outcome.late())
    why = fmt::format("it did not end within {} s (--timeout)", timeout_s);
  else if (!outcome.done())
    why = failed;
  else if (begun_)
    why = "it ended the process";
  if (!why.empty()) {
    known_ = 0;
    broke_off_ = true;
    const auto begun = begun_.value_or(CheckBegun{"load", "", {}});
    culprits_ = begun.with;
    // A timeout is no verdict on the plugin, because the machine may have caused it.
    if (!outcome.done()) is_plugins_own_ = outcome.fault && !outcome.late();
    take({.check = begun.begin,
          .on = begun.on,
          .verdict = "failed",
          .found = why + "; the checks after this one did not run",
          .part = fmt::format("{}", fmt::join(culprits_, ", "))});
  }
  begun_.reset();
  first_ = checks_.size();
}

void Examination::spoil(const std::string& why) {
  if (!is_spoilt_) break_off({"load", info_.id, {}}, fmt::format("{}; no verdict is stored", why));
}

void Examination::break_off(const CheckBegun& at, const std::string& why) {
  known_ = 0;
  broke_off_ = is_spoilt_ = true;
  is_plugins_own_ = false;
  culprits_.clear();
  take({.check = at.begin, .on = at.on, .verdict = "unchecked", .found = why});
  begun_.reset();
  first_ = checks_.size();
}

void Examination::again() {
  known_ = checks_.size() - first_;
  begun_.reset();
}

void Examination::without_culprits() {
  tell_(fmt::format("  once more without {}\n", fmt::join(culprits_, ", ")));
  culprits_.clear();
  broke_off_ = false;
  checks_ = {checks_.back()};
  first_ = 1;
}

void Examination::leave(const std::string& name, const std::string& on, const std::string& why) {
  take({.check = name, .on = on, .verdict = "unchecked", .found = why});
}

bool Examination::tells_of(const std::vector<std::string>& names) const {
  return std::ranges::any_of(checks_, [&](const auto& check) { return std::ranges::find(names, check.check) != names.end(); });
}

StoredVerdict Examination::verdict() const {
  auto verdict = verdict_of(checks_);
  if (is_spoilt_ && !(ran_out_of_time_ && verdict.has_failed())) verdict.verdict = "unchecked";
  return verdict;
}

StoredVerdict Examination::own_verdict() const {
  auto own = checks_;
  for (auto& check : own) {
    if (check.part.empty() || check.verdict != "failed") continue;
    check.verdict = "unchecked";
    check.check = fmt::format("{} with {}", check.check, check.part);
  }
  auto verdict = verdict_of(own);
  verdict.lengths = lengths_;
  return verdict;
}

std::string Examination::summary(const char* one) const {
  std::vector<std::string> reasons;
  std::size_t unchecked = 0;
  for (const auto& check : checks_) {
    if (check.verdict != "unchecked") continue;
    ++unchecked;
    add_once(reasons, fmt::format("{}: {}", check.check, check.found));
  }
  const auto found = verdict();
  const auto ran = checks_.size() - unchecked;
  auto text = ran == 0 ? std::string("nothing was checked")
                       : fmt::format("{} {}{}, {}", ran, one, ran == 1 ? "" : "s",
                                     !found.failed.empty() ? "FAILED: " + found.failed_text()
                                     : is_spoilt_          ? "none failed"
                                                           : "all passed");
  if (unchecked > 0) text += fmt::format("; {} unchecked: {}", unchecked, fmt::join(reasons, ", "));
  return text;
}

json Examination::to_json() const {
  auto checks = json::array();
  for (const auto& check : checks_) checks.push_back(ablate::to_json(check));
  return {{"id", info_.id},
          {"kind", to_text(info_.kind)},
          {"version", info_.version},
          {"path", info_.path.string()},
          {"verdict", verdict().verdict},
          {"checks", checks}};
}

}  // namespace ablate
