// "NAME = VALUE", "NAME > NUMBER", "NAME < NUMBER": with which value of another parameter one is read (ParameterInfo::when), or
// an exemption holds.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "core/registry/plugin_info.h"

namespace ablate {

struct Condition {
  std::string name;       ///< of a parameter
  char comparison = '=';  ///< or '>', '<'
  std::string value;      ///< a text with or without its quotes
};

/// Its name is empty where the text is no condition.
Condition condition_of(const std::string& when);

/// Whether a condition is so in a section; "" always is.
bool holds(const std::string& when, const nlohmann::json& section);

/// The condition that keeps a parameter from being read in a section: its own, or that of the parameter which its own names,
/// and so on; "" where it is read. @param declared all parameters of the section, which has a value of each that a condition
/// names
std::string unmet_condition(std::span<const ParameterInfo> declared, const ParameterInfo& parameter,
                            const nlohmann::json& section);

/// The section, with the values of others that make the plugin read the parameter.
nlohmann::json reading(const PluginInfo& plugin, const std::string& parameter, nlohmann::json section);

}  // namespace ablate
