#include "tools/ablate/check/examination.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "db/report/format.h"

namespace ablate {
namespace {

using nlohmann::json;

std::string number(const json& value) { return value.is_number() ? fmt::format("{:.2g}", value.get<double>()) : "-"; }

/// The widest name of a kind's checks, or nearly.
int name_width(Kind kind) { return kind == Kind::kTask ? 32 : 14; }

std::string line_of(const json& check, Kind kind) {
  const std::string verdict = check.at("verdict"), why = check.value("why", "");
  auto found = check.at("found").get<std::string>();
  if (verdict == "failed" && !why.empty()) found += "; what is allowed: " + why;
  return fmt::format("  {:<9}  {:<{}}  {:>8}  {:>8}  {:<52}  {}\n", verdict == "failed" ? "FAILED" : verdict,
                     check.at("check").get<std::string>(), name_width(kind), number(check.at("error")),
                     number(check.at("tolerance")), check.at("on").get<std::string>(), db::one_row(found));
}

json check_json(const std::string& name, const std::string& on, const char* verdict, const std::string& found) {
  return {{"check", name},        {"on", on},  {"verdict", verdict}, {"found", found}, {"error", nullptr},
          {"tolerance", nullptr}, {"why", ""}, {"part", ""}};
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

KeptVerdict verdict_of(const json& checks) {
  KeptVerdict verdict;
  bool any = false;
  for (const auto& check : checks) {
    const bool unchecked = check.at("verdict") == "unchecked";
    any = any || !unchecked;
    if (unchecked) add_once(verdict.unchecked, check.at("check"));
    if (check.at("verdict") == "failed") add_once(verdict.failed, check.at("check"));
  }
  if (any) verdict.verdict = verdict.failed.empty() ? "passed" : "failed";
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  verdict.checked_s = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return verdict;
}

}  // namespace

std::string Examination::heading(Kind kind) {
  return fmt::format("  {:<9}  {:<{}}  {:>8}  {:>8}  {:<52}  {}\n", "", "check", name_width(kind), "off by", "allowed", "on",
                     "found");
}

void Examination::take(const json& check) {
  if (known_ > 0) {
    --known_;
    return;
  }
  checks_.push_back(check);
  tell_(line_of(check, info_.kind));
}

void Examination::hear(const json& data) {
  refused_ = data.value("refused", "");
  likely_ = data.value("likely", likely_);
  if (data.contains("begin")) begun_ = data;
  if (!data.contains("check")) return;
  begun_ = json::object();
  take(data);
}

void Examination::end(const json& answer, int timeout_s) {
  std::string why;
  if (answer.value("late", false))
    why = fmt::format("it did not end within {} s (--timeout)", timeout_s);
  else if (answer.contains("failed"))
    why = answer.at("failed");
  else if (!begun_.empty())
    why = "it ended the process";
  if (!why.empty()) {
    known_ = 0;
    broke_off_ = true;
    culprits_ = begun_.value("with", std::vector<std::string>());
    // How long it took may be the machine's doing, and is no verdict.
    if (answer.contains("failed")) is_plugins_own_ = answer.value("fault", false) && !answer.value("late", false);
    auto check = check_json(begun_.value("begin", "load"), begun_.value("on", ""), "failed",
                            why + "; the checks after this one did not run");
    check["part"] = fmt::format("{}", fmt::join(culprits_, ", "));
    take(check);
  }
  begun_ = json::object();
  first_ = checks_.size();
}

void Examination::again() {
  known_ = checks_.size() - first_;
  begun_ = json::object();
}

void Examination::without_culprits() {
  tell_(fmt::format("  once more without {}\n", fmt::join(culprits_, ", ")));
  culprits_.clear();
  broke_off_ = false;
  checks_ = json::array({checks_.back()});
  first_ = 1;
}

void Examination::leave(const std::string& name, const std::string& on, const std::string& why) {
  take(check_json(name, on, "unchecked", why));
}

KeptVerdict Examination::verdict() const { return verdict_of(checks_); }

KeptVerdict Examination::own_verdict() const {
  auto own = checks_;
  for (auto& check : own) {
    const std::string part = check.value("part", "");
    if (part.empty() || check.at("verdict") != "failed") continue;
    check["verdict"] = "unchecked";
    check["check"] = fmt::format("{} with {}", check.at("check").get<std::string>(), part);
  }
  return verdict_of(own);
}
std::string Examination::summary() const {
  std::vector<std::string> reasons;
  std::size_t unchecked = 0;
  for (const auto& check : checks_) {
    if (check.at("verdict") != "unchecked") continue;
    ++unchecked;
    add_once(reasons, fmt::format("{}: {}", check.at("check").get<std::string>(), check.at("found").get<std::string>()));
  }
  const auto found = verdict();
  const auto ran = checks_.size() - unchecked;
  auto text = ran == 0 ? std::string("nothing was checked")
                       : fmt::format("{} check{}, {}", ran, ran == 1 ? "" : "s",
                                     found.passed() ? "all passed" : "FAILED: " + found.failed_text());
  if (unchecked > 0) text += fmt::format("; {} unchecked: {}", unchecked, fmt::join(reasons, ", "));
  return text;
}

json Examination::to_json() const {
  return {{"id", info_.id},
          {"kind", to_text(info_.kind)},
          {"version", info_.version},
          {"path", info_.path.string()},
          {"verdict", verdict().verdict},
          {"likely", likely_},
          {"checks", checks_}};
}

}  // namespace ablate
