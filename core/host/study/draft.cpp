#include "core/host/study/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/host/study/document.h"
#include "core/host/study/longer.h"
#include "core/host/study/named_tables.h"
#include "core/host/study/tuning.h"
#include "core/records/setting_paths.h"
#include "core/registry/plugin_info.h"
#include "core/util/nearest.h"
#include "core/util/plain_text.h"
#include "core/util/trimmed.h"

namespace ablate {
namespace {

void collect_leaves(const Node& table, const std::string& prefix, std::vector<std::pair<std::string, const Node*>>& result) {
  for (const auto& child : table.children) {
    const auto path = prefix + child.name;
    if (child.has_settings())
      collect_leaves(child, path + ".", result);
    else
      result.emplace_back(path, &child);
  }
}

const std::vector<ParameterInfo>& experiment_parameters() {
  static const std::vector<ParameterInfo> parameters = {
      describe(text("name", "\"\"", "", "name of the experiment; default: the file's name")),
      describe(text("description", "\"\"", "", "subject of the experiment")),
      describe(text("preset", "\"\"", "", "named base values; the study's own values override them")),
      describe(real("timeout", "0.001", {0.001, 1e9}, "a trial that runs longer is ended", "s")),
      describe(real("checkpoint", "600", {0, 1e9}, "interval at which a running trial is written to disk; 0: never", "s")),
      describe(real("smallest", "1e-9", {1e-9, 1e9}, "smallest difference of the main metric that the study is about")),
      describe(boolean("keep_weights", "false", "each trial's best weights are kept in a file beside the history")),
  };
  return parameters;
}

std::vector<std::string> known_sections() {
  std::vector<std::string> names = {"experiment"};
  names.insert(names.end(), kSections.begin(), kSections.end());
  names.push_back("grid");
  names.push_back("claim");
  names.push_back("published");
  names.push_back("table");
  return names;
}

/// Returns a text of several lines as one line, for checks.
nlohmann::json in_one_line(nlohmann::json value) {
  if (!value.is_string()) return value;
  auto text = value.get<std::string>();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

/// Moves [experiment] from the base values into the draft.
void read_experiment(Draft& draft, Diagnostics& diagnostics) {
  const std::string prefix = "experiment.";
  bool named = false;
  for (auto entry = draft.base.lower_bound(prefix); entry != draft.base.end() && entry->first.starts_with(prefix);
       entry = draft.base.erase(entry)) {
    const auto& [path, assignment] = *entry;
    const auto& parameters = experiment_parameters();
    const auto name = path.substr(prefix.size());
    const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
    if (found == parameters.end()) {
      std::vector<std::string> names;
      for (const auto& p : parameters) names.push_back(p.name);
      diagnostics.add(assignment.key, fmt::format("unknown key {} in [experiment]{}", name, suggestion(name, names)));
      continue;
    }
    const auto checked = check_value(*found, name == "description" ? in_one_line(assignment.value) : assignment.value);
    if (!checked.ok())
      diagnostics.add(assignment.where, fmt::format("{} = {}: expected {}", path, show(assignment.value),
                                                    name == "description" ? "a text" : checked.expected));
    else if (name == "preset")
      continue;  // was read before everything else
    else if (name == "timeout")
      draft.timeout_s = checked.value;
    else if (name == "checkpoint")
      draft.checkpoint_s = checked.value;
    else if (name == "keep_weights")
      draft.keep_weights = checked.value;
    else if (name == "smallest")
      draft.smallest = {path, checked.value, assignment.key, assignment.where};
    else if (name == "description")
      draft.description = assignment.value;
    else if (const auto why = name_refusal(checked.value); !why.empty())
      diagnostics.add(assignment.where, "experiment.name " + why);
    else
      draft.name = checked.value, named = true;
  }
  if (const auto why = name_refusal(draft.name); !named && !why.empty())
    diagnostics.add(draft.start, fmt::format("the experiment has the file's name, {}, which {}; set [experiment] name",
                                             show(draft.name), why));
}

/// Adds to Draft::plugins every plugin that the draft's present settings name.
void note_plugins(Draft& draft) {
  std::set<std::string> always_set;
  const auto note = [&](const Assignment& set) {
    // An entry of a list is known even if it names no plugin.
    for (auto dot = set.path.find('.'); dot != std::string::npos; dot = set.path.find('.', dot + 1))
      if (const auto section = set.path.substr(0, dot); is_index(split_path(section).second)) draft.plugins[section];
    const auto [section, key] = split_path(set.path);
    if (key == "plugin") draft.plugins[section].insert(set.value.is_string() ? set.value.get<std::string>() : "");
  };
  for (const auto& group : draft.groups) {
    std::map<std::string, std::size_t> setting;
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set) note(set), ++setting[set.path];
    for (const auto& [path, count] : setting)
      if (count == group.alternatives.size()) always_set.insert(path);
  }
  // If the grid replaces a list, base settings of its entries are no error.
  const auto in_list = [](const std::string& path) { return is_index(split_path(split_path(path).first).second); };
  for (const auto& [path, set] : draft.base)
    if (!always_set.contains(path) || in_list(path)) note(set);
}

namespace fs = std::filesystem;

struct Named {
  std::string name;
  Location where;
};

/// Returns the preset of the study. The command line has precedence.
std::optional<Named> preset_of(const Node& document, const std::vector<std::string>& overrides, Diagnostics& diagnostics) {
  std::optional<Named> found;
  const auto take = [&](const Node& node) {
    if (node.value.is_string()) found = {node.value.get<std::string>(), node.where};  // other types are refused later
  };
  if (const auto* experiment = document.find("experiment"))
    if (const auto* preset = experiment->find("preset")) take(*preset);
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const auto [path, text] = split_override(overrides[i]);
    if (path != "experiment.preset" || text.empty()) continue;
    if (const auto node = parse_value(text, {kOverrideFile, static_cast<int>(i + 1), 0}, diagnostics)) take(*node);
  }
  return found;
}

std::vector<std::string> names_in(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& folder : folders)
    for (const auto& entry : fs::directory_iterator(folder, none))
      if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool same_values(const Alternative& a, const Alternative& b) {
  return a.lists == b.lists && std::equal(a.set.begin(), a.set.end(), b.set.begin(), b.set.end(),
                                          [](const auto& x, const auto& y) { return x.path == y.path && x.value == y.value; });
}

/// Replaces the values of the axis with this path, if there is such an axis and `node` is a suitable list. An axis of lists
/// needs a list of lists. Returns true if values were replaced.
bool replace_axis(const std::string& path, const Node& node, std::vector<Group>& groups, Diagnostics& diagnostics) {
  if (!node.is_array() || node.children.empty()) return false;
  for (auto& group : groups) {
    if (group.form != Group::Form::kAxis || group.path != path) continue;
    const auto& first = group.alternatives.front();
    const bool holds_lists = !first.lists.empty() || (!first.set.empty() && first.set.front().value.is_array());
    for (const auto& item : node.children)
      if (item.is_array() != holds_lists) return false;
    group.alternatives.clear();
    for (const auto& item : node.children) {
      group.alternatives.push_back({item.where, {}, {}});
      add_settings(path, item, group.alternatives.back(), diagnostics);
    }
    return true;
  }
  return false;
}

/// Removes an override's settings from the grid. Alternatives that become equal are merged: ten rows of rates become one if the
/// rates are overridden.
void remove_from_grid(const Alternative& change, std::vector<Group>& groups) {
  const auto gone = [&](const std::string& path) {
    const auto same = [&](const auto& set) { return set.path == path; };
    return replaces(change, path) || std::any_of(change.set.begin(), change.set.end(), same);
  };
  for (auto& group : groups) {
    std::size_t removed = 0;
    for (auto& alternative : group.alternatives)
      removed += std::erase_if(alternative.set, [&](const auto& set) { return gone(set.path); });
    if (removed == 0) continue;
    for (auto& alternative : group.alternatives)
      std::erase_if(alternative.lists, [&](const auto& list) { return replaces(change, list + ".0.plugin"); });
    std::vector<Alternative> distinct;
    for (auto& alternative : group.alternatives)
      if (std::none_of(distinct.begin(), distinct.end(), [&](const auto& other) { return same_values(other, alternative); }))
        distinct.push_back(std::move(alternative));
    group.alternatives = std::move(distinct);
  }
  std::erase_if(groups, [](const auto& group) { return group.alternatives.size() == 1 && group.alternatives[0].set.empty(); });
}

bool holds_tables(const Node& node) {
  return node.is_array() && std::any_of(node.children.begin(), node.children.end(), [](const Node& n) { return n.is_table(); });
}

void add_entries(const std::string& path, const Node& list, Alternative& into, Diagnostics& diagnostics) {
  into.lists.push_back(path);
  for (std::size_t i = 0; i < list.children.size(); ++i) {
    const auto& entry = list.children[i];
    const auto entry_path = fmt::format("{}.{}", path, i);
    if (entry.is_table() && !entry.children.empty()) {
      add_settings(entry_path, entry, into, diagnostics);
      continue;
    }
    diagnostics.add(entry.where, fmt::format("{} is {}, expected a section with plugin = \"...\"", entry_path,
                                             entry.is_table() ? "empty" : show(entry.value)));
    into.set.push_back({entry_path + ".plugin", nlohmann::json(nlohmann::json::value_t::discarded), entry.where, entry.where});
  }
}

}  // namespace

void read_section(const Node& section, Draft& draft, Diagnostics& diagnostics) {
  const bool has_plugin = section.name == "task" || section.name == "attention";
  Alternative settings{section.where, {}, {}};
  if (section.has_settings() || (section.name == "attention" && section.is_array()))
    add_settings(section.name, section, settings, diagnostics);
  if (!section.is_table() && settings.lists.empty()) {
    diagnostics.add(section.key,
                    fmt::format("{0} is a section; write [{0}]{1}", section.name,
                                has_plugin && section.value.is_string() ? " and in it plugin = " + show(section.value) : ""));
    draft.broken.insert(section.name + ".plugin");
    return;
  }
  if (!has_plugin)
    for (const auto& child : section.children)
      if (child.has_settings())
        diagnostics.add(child.key,
                        fmt::format("{0}.{1} is a table, but every key of [{0}] takes a value", section.name, child.name));
  note_tables(section.name, section, draft.sections);
  std::erase_if(draft.base, [&](const auto& entry) { return replaces(settings, entry.first); });
  for (auto& set : settings.set)
    if (has_plugin || split_path(set.path).first == section.name) draft.base[set.path] = std::move(set);
}

std::string unknown_section(const std::string& name, const std::vector<std::string>& known) {
  if (name == "compression")
    return "a compression belongs to the attention that reads it: write [attention.compression] in place of [compression]";
  return fmt::format("unknown section {}{}", name, suggestion(name, known));
}

std::vector<std::string> Group::paths() const {
  if (!path.empty()) return {path};
  std::vector<std::string> all;
  for (const auto& alternative : alternatives)
    for (const auto& one : alternative.set)
      if (std::find(all.begin(), all.end(), one.path) == all.end()) all.push_back(one.path);
  return all;
}

bool is_broken(const Draft& draft, const std::string& path) {
  return std::any_of(draft.broken.begin(), draft.broken.end(),
                     [&](const auto& broken) { return path == broken || is_below(path, broken); });
}

std::vector<std::pair<std::string, const Node*>> leaves(const Node& table) {
  std::vector<std::pair<std::string, const Node*>> result;
  collect_leaves(table, "", result);
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second->key.line, a.second->key.column) < std::tie(b.second->key.line, b.second->key.column);
  });
  return result;
}

Draft read_draft(const Node& document, const std::vector<std::string>& overrides, const std::string& default_name,
                 const std::vector<std::filesystem::path>& presets, Diagnostics& diagnostics) {
  Draft draft{.name = default_name, .start = document.where};
  read_preset(document, overrides, presets, draft, diagnostics);
  const auto sections = known_sections();
  for (const auto& child : document.children) {
    if (child.name == "grid" && child.is_table()) {
      draft.sections["grid"] = child.where;
      read_grid(child, draft, diagnostics);
    } else if (child.name == "published") {
      read_published(child, draft, diagnostics);
    } else if (child.name == "claim") {
      read_claims(child, draft.claims, diagnostics);
    } else if (child.name == "table") {
      read_tables(child, draft.tables, diagnostics);
    } else if (std::find(sections.begin(), sections.end(), child.name) != sections.end()) {
      read_section(child, draft, diagnostics);
    } else if (child.name == "seed" || child.name == "seeds") {
      diagnostics.add(child.key, fmt::format("{} is no section; seeds are set in [grid]: seeds = [1, 2, 3]", child.name));
    } else {
      diagnostics.add(child.key, unknown_section(child.name, sections));
      if (child.name == "compression")
        draft.broken.insert(setting::kAttentionCompression);  // the message also covers the missing attention.compression
    }
  }
  if (draft.groups.empty() || draft.groups.back().form != Group::Form::kSeeds)
    draft.groups.push_back(
        {Group::Form::kSeeds, document.where, {{document.where, {{setting::kSeed, 1, document.where, document.where}}, {}}}});
  note_plugins(draft);
  apply_overrides(overrides, draft, diagnostics);
  if (draft.match && is_set_by(overrides, *draft.match)) draft.match.reset();
  add_tuning_seeds(draft, diagnostics);
  check_tuned(draft, diagnostics);
  note_plugins(draft);
  read_experiment(draft, diagnostics);
  check_longer(draft, diagnostics);
  return draft;
}

void read_preset(const Node& document, const std::vector<std::string>& overrides, const std::vector<fs::path>& folders,
                 Draft& draft, Diagnostics& diagnostics) {
  const auto named = preset_of(document, overrides, diagnostics);
  if (!named) return;
  std::error_code none;
  for (const auto& folder : folders) {
    const auto file = folder / (named->name + ".toml");
    if (named->name.find('/') != std::string::npos || !fs::exists(file, none)) continue;
    draft.preset = file.string();
    const auto preset = parse_document(read_toml(file, "a preset"), draft.preset, diagnostics);
    if (!preset) return;
    for (const auto& child : preset->children) {
      if (std::find(kSections.begin(), kSections.end(), child.name) != kSections.end())
        read_section(child, draft, diagnostics);
      else if (child.name == "experiment" || child.name == "grid" || child.name == "claim" || child.name == "published")
        diagnostics.add(child.key, fmt::format("a preset holds only base values; [{}] belongs in a study", child.name));
      else
        diagnostics.add(child.key, unknown_section(child.name, kSections));
    }
    return;
  }
  std::string looked;
  for (const auto& folder : folders) looked += (looked.empty() ? "" : ", ") + folder.string();
  diagnostics.add(named->where, fmt::format("unknown preset {}{}; looked for NAME.toml in {}", show(named->name),
                                            hint(named->name, names_in(folders)), looked));
}

nlohmann::json written_value(const Node& document, const std::string& path, const std::vector<std::string>& overrides) {
  Diagnostics unheard;
  for (auto at = overrides.rbegin(); at != overrides.rend(); ++at)
    if (const auto [key, text] = split_override(*at); key == path)
      if (const auto node = parse_value(text, {}, unheard)) return node->value;
  const auto [section, key] = split_path(path);
  const auto* node = document.find(section);
  const auto* value = node == nullptr ? nullptr : node->find(key);
  return value == nullptr ? nlohmann::json() : value->value;
}

std::pair<std::string, std::string> split_override(const std::string& text) {
  const auto equals = text.find('=');
  constexpr const char* kBlanks = " \t";  // a line end belongs to a value
  return {trimmed(text.substr(0, equals), kBlanks),
          equals == std::string::npos ? "" : trimmed(text.substr(equals + 1), kBlanks)};
}

void apply_overrides(const std::vector<std::string>& overrides, Draft& draft, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const Location where{kOverrideFile, static_cast<int>(i + 1), 0};
    const auto [path, text] = split_override(overrides[i]);
    if (path.empty() || text.empty()) {
      diagnostics.add(where, "expected path=value, for example train.steps=200");
      continue;
    }
    const auto node = parse_value(text, where, diagnostics);
    if (path == "seeds") {
      if (node) draft.groups.back() = read_seeds(*node, diagnostics);
      continue;
    }
    if (node && replace_axis(path, *node, draft.groups, diagnostics)) continue;
    Alternative settings;
    if (node)
      add_settings(path, *node, settings, diagnostics);
    else
      settings.set.push_back({path, nullptr, where, where});
    if (path != setting::kSeed)
      remove_from_grid(settings, draft.groups);  // "seed" is refused later, and the seeds' group must stay the last
    draft.broken.erase(path);
    if (!node) draft.broken.insert(path);
    std::erase_if(draft.base, [&](const auto& entry) { return replaces(settings, entry.first); });
    for (auto& set : settings.set)
      if (node) draft.base[set.path] = std::move(set);
  }
}

void add_settings(const std::string& path, const Node& node, Alternative& into, Diagnostics& diagnostics) {
  if (node.has_settings()) {
    for (const auto& child : node.children)
      add_settings(path.empty() ? child.name : path + "." + child.name, child, into, diagnostics);
  } else if (holds_tables(node)) {
    add_entries(path, node, into, diagnostics);
  } else {
    into.set.push_back({path, node.value, node.key, node.where});
  }
}

void note_tables(const std::string& path, const Node& node, std::map<std::string, Location>& locations) {
  if (!node.is_table() && !holds_tables(node)) return;
  locations[path] = node.where;
  for (std::size_t i = 0; i < node.children.size(); ++i)
    note_tables(path + "." + (node.is_table() ? node.children[i].name : std::to_string(i)), node.children[i], locations);
}

bool replaces(const Alternative& setting, const std::string& path) {
  if (std::any_of(setting.lists.begin(), setting.lists.end(), [&](const auto& list) { return is_below(path, list); }))
    return true;
  const auto parts = split_first(path);
  return is_index(split_first(parts.second).first) && std::any_of(setting.set.begin(), setting.set.end(), [&](const auto& set) {
           return set.path == parts.first + ".plugin";
         });
}

}  // namespace ablate
