// "NAME = VALUE": with which value of another parameter one is read (ParameterInfo::when), or an exemption holds.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/registry/plugin_info.h"

namespace ablate {

/// The two sides of "NAME = VALUE"; both empty where it is none.
std::pair<std::string, std::string> sides_of(const std::string& when);

/// Whether "NAME = VALUE" (a text with or without its quotes) is so in a plugin's section; "" always is.
bool holds(const std::string& when, const nlohmann::json& section);

/// Why a value of the parameter does nothing in a section: "mad reads it where kind = noisy-recall alone"; "" where it is read.
/// @param section with a value of what the condition names
std::string idle_reason(const PluginInfo& plugin, const ParameterInfo& parameter, const nlohmann::json& section);

/// The section, with the values of others that make the plugin read the parameter.
nlohmann::json reading(const PluginInfo& plugin, const std::string& parameter, nlohmann::json section);

}  // namespace ablate
