#include "core/host/study/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/host/study/named_tables.h"
#include "core/host/study/path.h"
#include "core/host/study/tuning.h"
#include "core/records/setting_paths.h"
#include "core/registry/plugin_info.h"
#include "core/util/plain_text.h"

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
      describe(text("name", "\"\"", "", "what the experiment is called; default: the file's name")),
      describe(text("description", "\"\"", "", "what it is about")),
      describe(text("preset", "\"\"", "", "named base values, which come after the study's own")),
      describe(real("timeout", "0.001", {0.001, 1e9}, "a trial that runs longer is ended", "s")),
      describe(real("checkpoint", "600", {0, 1e9}, "a running trial is written to disk so often; 0: never", "s")),
      describe(boolean("keep_weights", "false", "each trial's best weights are kept in a file beside the history")),
  };
  return parameters;
}

std::vector<std::string> known_sections() {
  std::vector<std::string> names = {"experiment"};
  names.insert(names.end(), kSections.begin(), kSections.end());
  names.push_back("grid");
  names.push_back("published");
  names.push_back("table");
  return names;
}

/// A text of several lines as one, for checks.
nlohmann::json in_one_line(nlohmann::json value) {
  if (!value.is_string()) return value;
  auto text = value.get<std::string>();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

/// Takes [experiment] out of the base values.
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
      continue;  // taken in before everything else
    else if (name == "timeout")
      draft.timeout_s = checked.value;
    else if (name == "checkpoint")
      draft.checkpoint_s = checked.value;
    else if (name == "keep_weights")
      draft.keep_weights = checked.value;
    else if (name == "description")
      draft.description = assignment.value;
    else if (const auto why = name_refusal(checked.value); !why.empty())
      diagnostics.add(assignment.where, "experiment.name " + why);
    else
      draft.name = checked.value, named = true;
  }
  if (const auto why = name_refusal(draft.name); !named && !why.empty())
    diagnostics.add(draft.start, fmt::format("the file's name, {}, is the experiment's, and {}; set [experiment] name",
                                             show(draft.name), why));
}

/// Adds the plugins that trials name now.
void note_plugins(Draft& draft) {
  std::set<std::string> always_set;
  const auto note = [&](const Assignment& set) {
    // An entry of a list is known also where it names no plugin.
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
  // Where the grid replaces a list, what the base says of its entries is no error.
  const auto in_list = [](const std::string& path) { return is_index(split_path(split_path(path).first).second); };
  for (const auto& [path, set] : draft.base)
    if (!always_set.contains(path) || in_list(path)) note(set);
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
    } else if (child.name == "table") {
      read_tables(child, draft.tables, diagnostics);
    } else if (std::find(sections.begin(), sections.end(), child.name) != sections.end()) {
      read_section(child, draft, diagnostics);
    } else if (child.name == "seed" || child.name == "seeds") {
      diagnostics.add(child.key, fmt::format("{} is no section; seeds are set in [grid]: seeds = [1, 2, 3]", child.name));
    } else {
      diagnostics.add(child.key, unknown_section(child.name, sections));
      if (child.name == "compression") draft.broken.insert(setting::kAttentionCompression);  // that it is missing there is said
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
  return draft;
}

}  // namespace ablate
