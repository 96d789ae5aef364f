// Which plugins `ablate check` checks, and with which parts and parameters.
#pragma once

#include <map>

#include "tools/ablate/commands.h"

namespace ablate {

/// @param what ids and paths of libraries, each taken once; none: all that were found, refused ones included. Throws Error
/// where there is none, or where a library that was named cannot be loaded.
std::vector<FoundLibrary> choose(const std::vector<std::string>& what, const std::vector<FoundLibrary>& found,
                                 const Options& options, Executors& executors);

/// The parts that parameters are tried with: every compression and attention found, by id, the first of each id.
std::map<std::string, FoundLibrary> parts_among(const std::vector<FoundLibrary>& found);

/// NAME=VALUE pairs, checked against the schema. A value is JSON, or a text without quotes. Throws Error, also for a value that
/// nothing reads beside the others, of a part too, as a study does.
nlohmann::json parameters_of(const PluginInfo& plugin, const std::vector<std::string>& pairs,
                             const std::map<std::string, FoundLibrary>& parts);

}  // namespace ablate
