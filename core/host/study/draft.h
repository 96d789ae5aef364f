// A study as written: base values, the grid's groups and rules. Nothing in it is checked against plugins yet.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/study/diagnostics.h"
#include "core/host/study/document.h"
#include "core/host/study/grid_match.h"

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

/// The grid is the product of its groups: the last one advances fastest.
struct Group {
  enum class Form { kRows, kZip, kAxis, kMatched, kSeeds };
  Form form = Form::kAxis;
  Location where;
  std::vector<Alternative> alternatives;
  std::string path = {};  ///< of an axis
  bool tuned = false;     ///< of [grid.tune]: one of its values is chosen by dev
  /// Of kMatched, the widths that [grid.match] has found: which one goes with alternatives of all groups before it.
  std::map<std::vector<std::size_t>, std::size_t> found = {};

  /// What it varies: an axis's path, else all that its alternatives set, in their order.
  std::vector<std::string> paths() const;
};

/// Trials that match all entries are left out.
struct Rule {
  struct Entry {
    std::string path;
    nlohmann::json value;  ///< a value, or a list of values any of which matches
    Location key, where;
  };
  Location where;
  std::vector<Entry> entries;
};

/// A number that a paper gives for the trials that match a rule.
struct PublishedDraft {
  std::string metric, source;
  double value;
  Location where;
  std::size_t rule;  ///< index into Draft::published_rules
};

struct Draft {
  std::string name, description;
  double timeout_s = 0, checkpoint_s = 600;
  bool keep_weights = false;
  std::map<std::string, Assignment> base;
  std::vector<Group> groups;          ///< rows, zips, axes in the order of the file, tuned axes, widths, seeds
  std::optional<GridMatch> match;     ///< [grid.match]
  std::optional<Group> tuning_seeds;  ///< [grid.tune] seeds: the first of the seeds' group, once the overrides are applied
  std::vector<Rule> rules;
  std::vector<Rule> published_rules;  ///< one for each line of a [[published]]
  std::vector<PublishedDraft> published;
  std::vector<NamedTable> tables;
  Location start;                            ///< of the file
  std::string preset;                        ///< the file of [experiment] preset; "": none
  std::map<std::string, Location> sections;  ///< of the headers that are there, by path, "grid" too
  std::set<std::string> broken;              ///< paths whose part of the study was left out because of an error
  /// By a section's path, the plugins that trials name, in the file as it stands and after the overrides: a key of a plugin
  /// that an override takes out of the study is no error. Empty text: a name that is no text. Entries of lists that name none,
  /// too.
  std::map<std::string, std::set<std::string>> plugins;
};

inline constexpr std::size_t kMostTrials = 100'000;

/// The sections that hold parameters, in the order in which a study is usually written.
inline const std::vector<std::string> kSections = {"task", "model", "attention", "train"};

/// Whether an error left out the part of the study that sets a path, or one above it.
bool is_broken(const Draft& draft, const std::string& path);

/// Every value below a table with its dotted path, in the order of the file.
std::vector<std::pair<std::string, const Node*>> leaves(const Node& table);

/// Reads [grid] into draft.groups and draft.rules.
void read_grid(const Node& grid, Draft& draft, Diagnostics& diagnostics);

/// Reads [[published]] into draft.published and draft.published_rules.
void read_published(const Node& node, Draft& draft, Diagnostics& diagnostics);

/// The seeds' group: from a count or a list of integers.
Group read_seeds(const Node& node, Diagnostics& diagnostics);

/// Reads a whole file and applies the overrides. Errors go to diagnostics, and the draft holds what could be read.
/// @param presets the folders in which [experiment] preset is looked for
Draft read_draft(const Node& document, const std::vector<std::string>& overrides, const std::string& default_name,
                 const std::vector<std::filesystem::path>& presets, Diagnostics& diagnostics);

/// Takes the base values of the preset that a study, or an override, names into the draft, before the study's own.
void read_preset(const Node& document, const std::vector<std::string>& overrides,
                 const std::vector<std::filesystem::path>& folders, Draft& draft, Diagnostics& diagnostics);

/// Takes a section of base values into the draft: they come before what is there.
void read_section(const Node& section, Draft& draft, Diagnostics& diagnostics);

/// Why a section cannot be one of a study, with the remedy.
std::string unknown_section(const std::string& name, const std::vector<std::string>& known);

/// The path and the text of "path=value"; both empty, or the text, where it is none.
std::pair<std::string, std::string> split_override(const std::string& text);

/// Replaces base values and parts of the grid by "path=value" of the command line.
void apply_overrides(const std::vector<std::string>& overrides, Draft& draft, Diagnostics& diagnostics);

}  // namespace ablate
