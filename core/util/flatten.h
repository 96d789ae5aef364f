// A trial's settings under the names of the database and the tables: a path for each value.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace ablate {

/// Returns all leaves with their paths. A section's plugin gets the section's own path: {"attention": {"plugin": "adamra",
/// "rates": ["1/2", "1/4"]}, "seed": 1} -> "attention" = "adamra", "attention.rates" = "1/2,1/4", "seed" = 1. Sections in a
/// list are counted from 0: "attention.parts.0" = "local", "attention.parts.0.heads" = 2. Other lists become comma-separated
/// text. Numbers, booleans and text stay unchanged.
std::map<std::string, nlohmann::json> flatten(const nlohmann::json& resolved);

/// Converts a study's path to flatten's form: "attention.plugin" to "attention". Other paths stay unchanged.
std::string history_path(const std::string& path);

}  // namespace ablate
