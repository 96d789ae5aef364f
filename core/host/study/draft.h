// A study as written: base values, the grid's groups and rules. Not checked against plugins yet.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/study/claims.h"
#include "core/host/study/diagnostics.h"
#include "core/host/study/document.h"
#include "core/host/study/grid_match.h"

namespace ablate {

struct Assignment {
  std::string path;  ///< "attention.rates"; "seed"
  nlohmann::json value;
  Location key;    ///< location of the path
  Location where;  ///< location of the value
};

/// One choice of a group: a row, a zip's i-th values, an axis's value, a seed.
struct Alternative {
  Location where;
  std::vector<Assignment> set;
  /// Paths of lists of plugins that the choice replaces: "attention.parts". Base settings of the lists' entries are dropped.
  std::vector<std::string> lists;
  int beyond = 0;  ///< Trial::beyond of a value that `widen` of [grid.tune] may add, else 0
};

/// Adds a node's settings: a table's members, the entries of a list of tables ("attention.parts.0.heads"), else one value. `{}`
/// also counts as a value, but is refused later. Reports entries that are empty or are not sections.
void add_settings(const std::string& path, const Node& node, Alternative& into, Diagnostics& diagnostics);

/// Adds the locations of a table or a list of tables, and of all tables inside it, by path.
void note_tables(const std::string& path, const Node& node, std::map<std::string, Location>& locations);

/// True if a setting removes the base value of a path. It does if the path is in a list that the setting replaces, or if the
/// path belongs to one layer's attention and the setting is for all layers.
bool replaces(const Alternative& setting, const std::string& path);

/// The grid is the product of its groups: the last group advances fastest.
struct Group {
  enum class Form { kRows, kZip, kAxis, kMatched, kSeeds };
  Form form = Form::kAxis;
  Location where;
  std::vector<Alternative> alternatives;
  std::string path = {};  ///< set for an axis
  bool tuned = false;     ///< from [grid.tune]: dev chooses one of its values
  /// For kMatched: index of the width that was found, by the alternatives of all earlier groups.
  std::map<std::vector<std::size_t>, std::size_t> found = {};

  /// Returns the paths that the group varies: an axis's path, else all paths that its alternatives set, in order.
  std::vector<std::string> paths() const;
};

/// A rule that selects the trials that match all its entries: to exclude them, or to give them a published number.
struct Rule {
  struct Entry {
    std::string path;
    nlohmann::json value;  ///< a value, or a list of values, any of which may match
    Location key, where;
  };
  Location where;
  std::vector<Entry> entries;
};

/// A paper's number for the trials that match a rule.
struct PublishedDraft {
  std::string metric, source;
  double value;
  Location where;
  std::size_t rule;  ///< index into Draft::published_rules
};

/// [grid.longer]: a control that repeats trials with more steps.
struct LongerDraft {
  std::int64_t factor = 0;     ///< multiplies steps, warm-up and steps between evaluations; at least 2
  std::optional<Group> seeds;  ///< seeds of the control; nullopt: the first two reported seeds
  Location where, factor_at;
};

struct Draft {
  std::string name, description;
  double timeout_s = 0, checkpoint_s = 600;
  std::optional<Assignment> smallest;  ///< [experiment] smallest
  bool keep_weights = false;
  std::map<std::string, Assignment> base;
  std::vector<Group> groups;          ///< in order: rows, zips and axes of the file, tuned axes, widths, seeds
  std::optional<GridMatch> match;     ///< [grid.match]
  std::optional<LongerDraft> longer;  ///< its seeds are set once read_draft returns
  std::optional<Group> tuning_seeds;  ///< [grid.tune] seeds, which come before the other seeds once the overrides are applied
  std::optional<Location> widen;      ///< set if [grid.tune] widen is true
  std::vector<Rule> rules;
  std::vector<Rule> published_rules;  ///< one for each line of a [[published]]
  std::vector<PublishedDraft> published;
  std::vector<NamedTable> tables;
  std::vector<WrittenClaim> claims;
  Location start;                            ///< start of the file
  std::string preset;                        ///< the file of [experiment] preset; "": none
  std::map<std::string, Location> sections;  ///< headers in the file, by path, also "grid"
  std::set<std::string> broken;              ///< paths of parts of the study that were left out because of an error
  /// By the path of a section: its plugins in the file, and its plugins after the overrides. If an override removes a plugin,
  /// keys of this plugin are therefore no error. "" stands for a name of a wrong type. The map also has list entries without a
  /// plugin.
  std::map<std::string, std::set<std::string>> plugins;
};

inline constexpr std::size_t kMostTrials = 100'000;

/// The sections with parameters, in their usual order in a study.
inline const std::vector<std::string> kSections = {"task", "model", "attention", "train"};

/// True if an error left out the part of the study that sets this path, or a section that contains the path.
bool is_broken(const Draft& draft, const std::string& path);

/// Returns every value inside a table, at any depth, with its dotted path, in the order of the file.
std::vector<std::pair<std::string, const Node*>> leaves(const Node& table);

/// Reads [grid] into draft.groups and draft.rules.
void read_grid(const Node& grid, Draft& draft, Diagnostics& diagnostics);

/// Returns the error in a metric's name, or "". Metrics of attentions are not checked: only an attention's code defines them.
std::string refuse_metric(const std::string& name);

/// Reads [[published]] into draft.published and draft.published_rules.
void read_published(const Node& node, Draft& draft, Diagnostics& diagnostics);

/// Returns the seeds' group, from a count or a list of integers.
Group read_seeds(const Node& node, Diagnostics& diagnostics);

/// Reads a whole file and applies the overrides. Errors go to diagnostics, and the draft has the parts that could be read.
/// @param presets folders that may have the file of [experiment] preset
Draft read_draft(const Node& document, const std::vector<std::string>& overrides, const std::string& default_name,
                 const std::vector<std::filesystem::path>& presets, Diagnostics& diagnostics);

/// Adds the base values of a preset that a study or an override names. The study's own values have precedence.
void read_preset(const Node& document, const std::vector<std::string>& overrides,
                 const std::vector<std::filesystem::path>& folders, Draft& draft, Diagnostics& diagnostics);

/// Adds a section of base values. They replace earlier values in the draft.
void read_section(const Node& section, Draft& draft, Diagnostics& diagnostics);

/// Returns why a study cannot have this section, with the remedy.
std::string unknown_section(const std::string& name, const std::vector<std::string>& known);

/// Returns a base value that a study's sections or the overrides set; null if not set. The last override has precedence.
/// Ignores presets and the grid.
nlohmann::json written_value(const Node& document, const std::string& path, const std::vector<std::string>& overrides);

/// Splits "path=value" into path and value. Without an equals sign the value is empty.
std::pair<std::string, std::string> split_override(const std::string& text);

/// Replaces base values and parts of the grid by "path=value" of the command line.
void apply_overrides(const std::vector<std::string>& overrides, Draft& draft, Diagnostics& diagnostics);

}  // namespace ablate
