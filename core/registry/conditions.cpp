#include "core/registry/conditions.h"

#include <fmt/format.h>

namespace ablate {

using nlohmann::json;

std::pair<std::string, std::string> sides_of(const std::string& when) {
  constexpr std::string_view equals = " = ";
  const auto at = when.find(equals);
  if (at == std::string::npos) return {};
  return {when.substr(0, at), when.substr(at + equals.size())};
}

bool holds(const std::string& when, const json& section) {
  if (when.empty()) return true;
  const auto [name, expected] = sides_of(when);
  const auto value = section.find(name);
  if (value == section.end()) return false;
  return *value == expected || *value == json::parse(expected, nullptr, false);
}

std::string idle_reason(const PluginInfo& plugin, const ParameterInfo& parameter, const json& section) {
  return holds(parameter.when, section) ? "" : fmt::format("{} reads it where {} alone", plugin.id, parameter.when);
}

json reading(const PluginInfo& plugin, const std::string& parameter, json section) {
  const auto* read = plugin.find(parameter);
  // A condition may name what is read under one itself; in a ring of them each is met once.
  for (std::size_t i = 0; read != nullptr && i < plugin.parameters.size(); ++i) {
    const auto [name, text] = sides_of(read->when);
    const auto holding = holds(read->when, section);
    read = plugin.find(name);
    if (read == nullptr || holding) continue;
    const auto as_text = check_value(*read, text);
    section[name] = as_text.ok() ? as_text.value : check_value(*read, json::parse(text, nullptr, false)).value;
  }
  return section;
}

}  // namespace ablate
