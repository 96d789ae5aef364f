// A trial's settings as the database and the tables name them: one path a value.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace ablate {

/// Paths of all leaves with their values; a section's plugin is the section's own path: {"attention": {"plugin": "adamra",
/// "rates": ["1/2", "1/4"]}, "seed": 1} -> "attention" = "adamra", "attention.rates" = "1/2,1/4", "seed" = 1. Sections in a
/// list are counted from 0: "attention.parts.0" = "local", "attention.parts.0.heads" = 2. Other lists become comma-separated
/// text; numbers, booleans and text stay what they are.
std::map<std::string, nlohmann::json> flatten(const nlohmann::json& resolved);

/// A study's path as flatten has it: "attention.plugin" is "attention"; any that names no plugin is itself.
std::string history_path(const std::string& path);

}  // namespace ablate
