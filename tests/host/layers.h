// The layers that docs/design.md lists, and what of a tree does not keep to them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ablate {

/// Of each room, by its path ("core/host/study"), the rooms that it may include: those that its line names, and all below them.
using Layers = std::map<std::string, std::set<std::string>>;

/// Reads the indented list under "## Layers": a room, its purpose, and behind "->" what it includes, with commas between. A
/// name stands for every room that has it in its path: "db" for db/history and db/report. Throws Error: no list, a name that is
/// no room, or rooms that include each other in a circle.
Layers read_layers(const std::string& design);

/// A line each, "FILE:LINE: found ..., allowed ...", in order: an include of a room that the file's own may not include, of
/// another plugin, of what is not in the tree, of SQLite outside of db/history and db/questions; a file in no room. Looks at
/// core, db, plugins and tools.
std::vector<std::string> wrong_includes(const std::filesystem::path& root, const Layers& layers);

/// A line each: types of core, db and tools that two headers define under one name and namespace. The linker takes one of them
/// for both (ODR).
std::vector<std::string> types_defined_twice(const std::filesystem::path& root);

/// A line each: sources of core, db and tools that read or write a trial's document by the name of a section, in place of
/// TrialSpec's members, SQL too; of core/host, db and tools also those that read which plugin a section is of; and those that
/// write a setting's path, or the begin of one, as a text of its own, or compare with a section's name. What may is listed in
/// the source.
std::vector<std::string> literal_sections(const std::filesystem::path& root);

/// A line each: sources of these folders that have a text which matches the expression, but for those whose path begins with
/// `allowed`.
std::vector<std::string> found_elsewhere(const std::filesystem::path& root, const std::vector<std::string>& folders,
                                         const std::string& expression, const std::string& allowed);

/// Sources (*.cpp, *.h, *.cu) of core, db, plugins, tests and tools above so many lines.
std::vector<std::string> long_files(const std::filesystem::path& root, std::size_t most);

}  // namespace ablate
