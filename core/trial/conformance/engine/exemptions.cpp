#include "core/trial/conformance/engine/exemptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <stdexcept>
#include <typeinfo>

#include "core/registry/conditions.h"
#include "core/trial/conformance/engine/finding.h"
#include "core/util/nearest.h"

namespace ablate {
namespace {

/// Size of the error in a check that has no measure and only passes or fails.
constexpr double kYesOrNo = 1;

std::set<std::string> names_in(std::string_view text) {
  constexpr std::string_view separator = ", ";
  std::set<std::string> names;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    names.emplace(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return names;
}

/// Removes a mixture's words for the part: "part_0.router" -> "router", "shared_parts_0_positions" -> "shared_positions".
std::set<std::string> as_of_part(const std::set<std::string>& names) {
  static const std::regex part(R"((part_\d+\.|parts_\d+_))");
  std::set<std::string> own;
  for (const auto& name : names) own.insert(std::regex_replace(name, part, ""));
  return own == names ? std::set<std::string>() : own;
}

bool includes(const std::set<std::string>& excused, const std::set<std::string>& wrong) {
  return !wrong.empty() && std::includes(excused.begin(), excused.end(), wrong.begin(), wrong.end());
}

std::string text_of(const ExemptionInfo& exemption) {
  return exemption.check + (exemption.what.empty() ? "" : " of " + exemption.what) +
         (exemption.when.empty() ? "" : " where " + exemption.when);
}

}  // namespace

Exemptions::Exemptions(const PluginInfo& plugin, const nlohmann::json& section) : declared_(plugin.exemptions) {
  for (const auto& exemption : declared_)
    if (holds(exemption.when, section)) in_force_.push_back(exemption);
}

void Exemptions::add_part(const PluginInfo& part, const nlohmann::json& section) {
  for (const auto& exemption : part.exemptions)
    if (holds(exemption.when, section)) of_parts_.push_back(exemption);
}

const ExemptionInfo* Exemptions::find(const std::string& check, const std::string& what) const {
  const auto wrong = names_in(what);
  for (const auto& exemption : in_force_) {
    const auto excused = names_in(exemption.what);
    if (exemption.check == check && (excused.empty() || includes(excused, wrong))) return &exemption;
  }
  for (const auto& exemption : of_parts_)
    if (exemption.check == check && includes(names_in(exemption.what), as_of_part(wrong))) return &exemption;
  return nullptr;
}

const ExemptionInfo* Exemptions::excuse(const std::string& check, const std::string& what) {
  const auto* exemption = find(check, what);
  if (exemption == nullptr) return nullptr;
  needed_.insert(exemption);
  if (exemption->tolerance < kYesOrNo)
    throw std::runtime_error(
        fmt::format("{} is wrong, and the exemption from {} states the tolerance {}; a fault without "
                    "a measure needs the tolerance {}",
                    what, text_of(*exemption), exemption->tolerance, kYesOrNo));
  return exemption;
}

void Exemptions::take(Finding& finding, const std::string& check, const std::string& what, const Checks::Look& look) {
  const auto* exemption = find(check, what);
  if (exemption == nullptr) return finding.take(look);
  finding.excuse(exemption->tolerance, exemption->why.c_str());
  try {
    finding.take(look);
    if (!finding.needed_excuse()) return;
    finding.say(fmt::format("exempt up to {}: {}", exemption->tolerance, exemption->why));
  } catch (const std::exception& error) {
    // The suite itself throws this type for a fault without a number. No exemption excuses an exception of a plugin.
    if (typeid(error) != typeid(std::runtime_error) || !finding.is_exact() || exemption->tolerance < kYesOrNo) throw;
    finding.saw();
    finding.say(fmt::format("exempt: {}; found: {}", exemption->why, error.what()));
  }
  needed_.insert(exemption);
}

void Exemptions::run(Checks& checks, const std::string& name, const std::string& on, const std::string& what,
                     const Allowed& allowed, const Checks::Look& look) {
  checks.run(name, on, allowed, [&](Finding& finding) { take(finding, name, what, look); });
}

void Exemptions::conclude(std::span<const std::string> own, Checks& checks, std::span<const std::string> elsewhere) const {
  if (declared_.empty()) return;
  std::vector<std::string> known(own.begin(), own.end());
  known.insert(known.end(), elsewhere.begin(), elsewhere.end());
  checks.run("exemptions", fmt::format("{} declared", declared_.size()), kExact, [&](Finding& finding) {
    finding.saw();
    for (const auto& exemption : declared_)
      if (std::find(known.begin(), known.end(), exemption.check) == known.end())
        finding.off_by(std::numeric_limits<double>::infinity(),
                       fmt::format("no check is called \"{}\"{}", exemption.check, hint(exemption.check, known)));
    for (const auto& exemption : in_force_)
      if (needed_.count(&exemption) == 0 && std::find(own.begin(), own.end(), exemption.check) != own.end())
        finding.say("not needed: " + text_of(exemption));
  });
}

}  // namespace ablate
