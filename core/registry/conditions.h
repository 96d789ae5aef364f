// "NAME = VALUE", "NAME > NUMBER", "NAME < NUMBER": with which value of another parameter one is read (ParameterInfo::when), or
// an exemption holds. Of the host's own parameters several of them, joined by " and ".
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

/// Of one condition. Its name is empty where the text is none.
Condition condition_of(const std::string& when);

/// Whether conditions are all so in a section; "" always is.
bool holds(const std::string& when, const nlohmann::json& section);

/// The condition that keeps a parameter from being read in a section: one of its own, or of a parameter which its own name,
/// and so on; "" where it is read. @param declared all parameters of the section, which has a value of each that a condition
/// names
std::string unmet_condition(std::span<const ParameterInfo> declared, const ParameterInfo& parameter,
                            const nlohmann::json& section);

/// The section, with the values of others that make the plugin read the parameter.
nlohmann::json reading(const PluginInfo& plugin, const std::string& parameter, nlohmann::json section);

}  // namespace ablate
