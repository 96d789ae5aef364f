// Conditions on a parameter's value: "NAME = VALUE", "NAME > NUMBER", "NAME < NUMBER". Another parameter is read, or an
// exemption holds, only if the conditions in its `when` are true. The host's own parameters may have several conditions, joined
// by " and ".
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "core/registry/plugin_info.h"

namespace ablate {

struct Condition {
  std::string name;       ///< parameter
  char comparison = '=';  ///< '=', '>' or '<'
  std::string value;      ///< text with or without its quotes
};

/// Parses a single condition. The name is empty if the text is no condition.
Condition condition_of(const std::string& when);

/// True if all conditions are true in a section; "" is always true.
bool holds(const std::string& when, const nlohmann::json& section);

/// Returns the false condition because of which a parameter is not read in a section, or "" if the parameter is read. The
/// condition is the parameter's own, or belongs to a parameter that such a condition names, recursively.
/// @param declared all parameters of the section, which has a value for each parameter that a condition names
std::string unmet_condition(std::span<const ParameterInfo> declared, const ParameterInfo& parameter,
                            const nlohmann::json& section);

/// Returns the section with other parameters changed in such a way that the plugin reads `parameter`.
nlohmann::json reading(const PluginInfo& plugin, const std::string& parameter, nlohmann::json section);

}  // namespace ablate
