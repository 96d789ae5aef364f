// A study as written: base values, the grid's groups and rules. Nothing in it is checked against plugins yet.
#pragma once

#include <map>
#include <set>
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
};

/// The grid is the product of its groups: the last one advances fastest.
struct Group {
  enum class Form { kRows, kZip, kAxis, kSeeds };
  Form form = Form::kAxis;
  Location where;
  std::vector<Alternative> alternatives;
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
  double timeout_s = 0;
  std::map<std::string, Assignment> base;
  std::vector<Group> groups;  ///< rows, zips, axes in the order of the file, seeds
  std::vector<Rule> rules;
  std::vector<Rule> published_rules;  ///< one for each line of a [[published]]
  std::vector<PublishedDraft> published;
  Location start;                            ///< of the file
  std::map<std::string, Location> sections;  ///< of the headers that are there, "grid" too
  std::set<std::string> broken;              ///< paths whose part of the study was left out because of an error
  /// By section, the plugins that trials name, in the file as it stands and after the overrides: a key of a plugin that an
  /// override takes out of the study is no error. Empty text: a name that is no text.
  std::map<std::string, std::set<std::string>> plugins;
};

inline constexpr std::size_t kMostTrials = 100'000;

/// The sections that hold parameters, in the order in which a study is usually written.
inline const std::vector<std::string> kSections = {"task", "model", "attention", "compression", "train"};
inline const std::vector<std::string> kPluginSections = {"task", "attention", "compression"};
inline constexpr const char* kDefaultCompression = "segment-mean";

/// Every value below a table with its dotted path, in the order of the file.
std::vector<std::pair<std::string, const Node*>> leaves(const Node& table);

/// Reads [grid] into draft.groups and draft.rules.
void read_grid(const Node& grid, Draft& draft, Diagnostics& diagnostics);

/// Reads [[published]] into draft.published and draft.published_rules.
void read_published(const Node& node, Draft& draft, Diagnostics& diagnostics);

/// The seeds' group: from a count or a list of integers.
Group read_seeds(const Node& node, Diagnostics& diagnostics);

/// Reads a whole file and applies the overrides. Errors go to diagnostics, and the draft holds what could be read.
Draft read_draft(const Node& document, const std::vector<std::string>& overrides, const std::string& default_name,
                 Diagnostics& diagnostics);

/// Replaces base values and parts of the grid by "path=value" of the command line.
void apply_overrides(const std::vector<std::string>& overrides, Draft& draft, Diagnostics& diagnostics);

}  // namespace ablate
