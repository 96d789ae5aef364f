// What a part of a study sets: values by path, from tables and lists of tables however they are nested.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/host/study/diagnostics.h"
#include "core/host/study/document.h"

namespace ablate {

struct Assignment {
  std::string path;  ///< "attention.rates"; "seed"
  nlohmann::json value;
  Location key;    ///< of the path
  Location where;  ///< of the value
};

/// One of the things a group can be: a row, a zip's i-th values, an axis's value, a seed.
struct Alternative {
  Location where;
  std::vector<Assignment> set;
  /// Paths of lists of plugins that it sets whole: "attention.parts". What a base section says of their entries is gone.
  std::vector<std::string> lists;
};

/// Adds what a node sets: of a table its members', of a list of tables its entries' ("attention.parts.0.heads"), else one
/// value, also `{}`: what takes its place refuses it. Entries that name nothing are reported.
void add_settings(const std::string& path, const Node& node, Alternative& into, Diagnostics& diagnostics);

/// Adds the locations of a table, or list of tables, and of those inside of it, by path.
void note_tables(const std::string& path, const Node& node, std::map<std::string, Location>& locations);

/// Whether a setting takes away the base value of a path: as an entry of a list that it sets whole, or as another attention for
/// each layer, where it sets one for all.
bool replaces(const Alternative& setting, const std::string& path);

}  // namespace ablate
