#include "core/registry/conditions.h"

#include <algorithm>
#include <cmath>

namespace ablate {

using nlohmann::json;

namespace {

/// A value of the parameter with which a condition on it holds.
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

}  // namespace

Condition condition_of(const std::string& when) {
  const auto at = when.find(' ');
  if (at == std::string::npos || at + 2 >= when.size() || when[at + 2] != ' ') return {};
  const char comparison = when[at + 1];
  if (comparison != '=' && comparison != '>' && comparison != '<') return {};
  return {when.substr(0, at), comparison, when.substr(at + 3)};
}

bool holds(const std::string& when, const json& section) {
  if (when.empty()) return true;
  const auto [name, comparison, text] = condition_of(when);
  const auto value = section.find(name);
  if (value == section.end()) return false;
  const auto expected = json::parse(text, nullptr, false);
  if (comparison == '=') return *value == text || *value == expected;
  return value->is_number() && expected.is_number() && (comparison == '>' ? *value > expected : *value < expected);
}

std::string unmet_condition(std::span<const ParameterInfo> declared, const ParameterInfo& parameter, const json& section) {
  const auto* at = &parameter;
  for (std::size_t i = 0; i <= declared.size(); ++i) {  // in a ring of them each is met once
    if (!holds(at->when, section)) return at->when;
    const auto name = condition_of(at->when).name;
    const auto next = std::find_if(declared.begin(), declared.end(), [&](const auto& one) { return one.name == name; });
    if (next == declared.end()) break;
    at = &*next;
  }
  return "";
}

json reading(const PluginInfo& plugin, const std::string& parameter, json section) {
  const auto* read = plugin.find(parameter);
  // A condition may name what is read under one itself; in a ring of them each is met once.
  for (std::size_t i = 0; read != nullptr && i < plugin.parameters.size(); ++i) {
    const auto condition = condition_of(read->when);
    const auto holding = holds(read->when, section);
    read = plugin.find(condition.name);
    if (read != nullptr && !holding) section[condition.name] = holding_value(*read, condition);
  }
  return section;
}

}  // namespace ablate
