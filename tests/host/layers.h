// The layers that docs/design.md lists, and the parts of the tree that violate them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ablate {

/// Rooms (listed folders, as "core/host/study") that each room may include: the rooms on its line and all rooms below them.
using Layers = std::map<std::string, std::set<std::string>>;

/// Reads the indented list under "## Layers": a room, its purpose, and after "->" the rooms that it includes, separated by
/// commas. A name stands for every room with this part in its path: "db" for db/history and db/report. Throws Error if there is
/// no list, if a name stands for no room, or if rooms include each other in a circle.
Layers read_layers(const std::string& design);

/// Returns lines "FILE:LINE: found ..., allowed ...", in order. Reports includes of a forbidden room, of another plugin, of
/// missing files, and of SQLite outside of db/history and db/questions. Also reports files in no room. Checks core, db, plugins
/// and tools.
std::vector<std::string> wrong_includes(const std::filesystem::path& root, const Layers& layers);

/// Returns a line for each type of core, db and tools that two headers define with the same name and namespace. The linker
/// would use the functions of one definition for both types (ODR).
std::vector<std::string> types_defined_twice(const std::filesystem::path& root);

/// Returns a line for each place in core, db and tools that names a section of a trial's document instead of using TrialSpec.
/// SQL counts, too. Sources of core/host, db and tools must not read a section's plugin. No source may contain a setting's path
/// or its beginning, or compare with a section's name. Exceptions are listed in layers.cpp.
std::vector<std::string> literal_sections(const std::filesystem::path& root);

/// Returns a message for each line that matches the expression, in sources of these folders. Skips sources whose path begins
/// with `allowed`.
std::vector<std::string> found_elsewhere(const std::filesystem::path& root, const std::vector<std::string>& folders,
                                         const std::string& expression, const std::string& allowed);

/// Returns sources (*.cpp, *.h, *.cu) of core, db, plugins, tests and tools with more lines than `most`.
std::vector<std::string> long_files(const std::filesystem::path& root, std::size_t most);

}  // namespace ablate
