// Selects the plugins that `ablate check` checks, with their parts and parameters.
#pragma once

#include <map>

#include "tools/ablate/commands.h"

namespace ablate {

/// Returns the chosen libraries. Throws Error if there is none, or if a named library cannot be loaded.
/// @param what ids and paths; a library that is named twice is used once; empty: all found libraries, including refused ones
std::vector<FoundLibrary> choose(const std::vector<std::string>& what, const std::vector<FoundLibrary>& found,
                                 const Options& options, Executors& executors);

/// Returns the plugins that a check tries as parts: all compressions and attentions found, by id (the first of each id).
std::map<std::string, FoundLibrary> parts_among(const std::vector<FoundLibrary>& found);

/// Parses NAME=VALUE pairs and checks them against the schema. A value is JSON, or a text without quotes. Throws Error for an
/// invalid value, and, as a study does, for a value that has no effect given the other values.
nlohmann::json parameters_of(const PluginInfo& plugin, const std::vector<std::string>& pairs,
                             const std::map<std::string, FoundLibrary>& parts);

}  // namespace ablate
