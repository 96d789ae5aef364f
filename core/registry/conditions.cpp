#include "core/registry/conditions.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace ablate {

using nlohmann::json;

namespace {

/// Returns a value of the parameter that makes the condition true.
json holding_value(const ParameterInfo& parameter, const Condition& condition) {
  if (condition.comparison == '=') {
    const auto as_text = check_value(parameter, condition.value);
    return as_text.ok() ? as_text.value : check_value(parameter, json::parse(condition.value, nullptr, false)).value;
  }
  const bool above = condition.comparison == '>';
  const auto bound = json::parse(condition.value).get<double>();
  if (parameter.type == ParameterType::kInteger)
    return static_cast<std::int64_t>(above ? std::floor(bound) + 1 : std::ceil(bound) - 1);
  const auto room = above ? parameter.maximum - bound : bound - parameter.minimum;
  return bound + (above ? 1 : -1) * std::min(1.0, room / 2);
}

std::vector<std::string> single_conditions(const std::string& when) {
  constexpr std::string_view kAnd = " and ";
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < when.size();) {
    const auto end = std::min(when.find(kAnd, begin), when.size());
    all.push_back(when.substr(begin, end - begin));
    begin = end + kAnd.size();
  }
  return all;
}

bool holds_alone(const std::string& when, const json& section) {
  const auto [name, comparison, text] = condition_of(when);
  const auto value = section.find(name);
  if (value == section.end()) return false;
  const auto expected = json::parse(text, nullptr, false);
  if (comparison == '=') return *value == text || *value == expected;
  return value->is_number() && expected.is_number() && (comparison == '>' ? *value > expected : *value < expected);
}

/// @param deeper limit on the number of steps from parameter to parameter, because conditions may form a ring
std::string unmet_of(const std::string& when, std::span<const ParameterInfo> declared, const json& section,
                     std::size_t deeper) {
  for (const auto& one : single_conditions(when)) {
    if (!holds_alone(one, section)) return one;
    const auto name = condition_of(one).name;
    const auto next = std::find_if(declared.begin(), declared.end(), [&](const auto& other) { return other.name == name; });
    if (next == declared.end() || deeper == 0) continue;
    if (auto unmet = unmet_of(next->when, declared, section, deeper - 1); !unmet.empty()) return unmet;
  }
  return "";
}

/// Makes all conditions true: sets the parameters in them, and recursively the parameters in their own conditions.
void make_hold(const std::string& when, const PluginInfo& plugin, json& section, std::size_t deeper) {
  for (const auto& one : single_conditions(when)) {
    const auto condition = condition_of(one);
    const auto* read = plugin.find(condition.name);
    if (read == nullptr || deeper == 0) continue;
    if (!holds_alone(one, section)) section[condition.name] = holding_value(*read, condition);
    make_hold(read->when, plugin, section, deeper - 1);
  }
}

}  // namespace

Condition condition_of(const std::string& when) {
  const auto at = when.find(' ');
  if (at == std::string::npos || at + 2 >= when.size() || when[at + 2] != ' ') return {};
  const char comparison = when[at + 1];
  if (comparison != '=' && comparison != '>' && comparison != '<') return {};
  return {when.substr(0, at), comparison, when.substr(at + 3)};
}

bool holds(const std::string& when, const json& section) {
  const auto all = single_conditions(when);
  return std::all_of(all.begin(), all.end(), [&](const auto& one) { return holds_alone(one, section); });
}

std::string unmet_condition(std::span<const ParameterInfo> declared, const ParameterInfo& parameter, const json& section) {
  return unmet_of(parameter.when, declared, section, declared.size());
}

json reading(const PluginInfo& plugin, const std::string& parameter, json section) {
  if (const auto* read = plugin.find(parameter)) make_hold(read->when, plugin, section, plugin.parameters.size());
  return section;
}

}  // namespace ablate
