#include "core/host/study/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/registry/plugin_info.h"
#include "core/util/plain_text.h"

namespace ablate {
namespace {

void collect(const Node& table, const std::string& prefix, std::vector<std::pair<std::string, const Node*>>& result) {
  for (const auto& child : table.children) {
    const auto path = prefix + child.name;
    if (child.is_table())
      collect(child, path + ".", result);
    else
      result.emplace_back(path, &child);
  }
}

const std::vector<ParameterInfo>& experiment_parameters() {
  static const std::vector<ParameterInfo> parameters = {
      describe(text("name", "\"\"", "", "what the experiment is called; default: the file's name")),
      describe(text("description", "\"\"", "", "what it is about")),
      describe(real("timeout", "0.001", {0.001, 1e9}, "a trial that runs longer is ended", "s")),
  };
  return parameters;
}

std::vector<std::string> known_sections() {
  std::vector<std::string> names = {"experiment"};
  names.insert(names.end(), kSections.begin(), kSections.end());
  names.push_back("grid");
  names.push_back("published");
  return names;
}

/// What is wrong with a name that a person types and a terminal shows; "" where nothing is.
std::string refuse_name(const std::string& name) {
  if (name.empty()) return "is empty";
  if (name.front() == '-') return "begins with '-', as an option of a command does";
  return line_refusal(name);
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
      diagnostics.add(assignment.where, fmt::format("{} = {}: expected {}", path, show(assignment.value), checked.expected));
    else if (name == "timeout")
      draft.timeout_s = checked.value;
    else if (name == "description")
      draft.description = assignment.value;
    else if (const auto why = refuse_name(checked.value); !why.empty())
      diagnostics.add(assignment.where, "experiment.name " + why);
    else
      draft.name = checked.value, named = true;
  }
  if (const auto why = refuse_name(draft.name); !named && !why.empty())
    diagnostics.add(draft.start, fmt::format("the file's name, {}, is the experiment's, and {}; set [experiment] name",
                                             show(draft.name), why));
}

void read_section(const Node& section, Draft& draft, Diagnostics& diagnostics) {
  if (!section.is_table()) {
    const auto plugin = section.value.is_string() && section.name != "model" && section.name != "train";
    diagnostics.add(section.key, fmt::format("{0} is a section; write [{0}]{1}", section.name,
                                             plugin ? " and in it plugin = " + show(section.value) : ""));
    draft.broken.insert(section.name + ".plugin");
    return;
  }
  draft.sections[section.name] = section.where;
  for (const auto& child : section.children) {
    const auto path = section.name + "." + child.name;
    if (child.is_table())
      diagnostics.add(child.key, fmt::format("{} is a table, but every key of [{}] takes a value", path, section.name));
    else
      draft.base[path] = {path, child.value, child.key, child.where};
  }
}

/// Adds the plugins that trials name now.
void note_plugins(Draft& draft) {
  for (const auto& section : kPluginSections) {
    const auto path = section + ".plugin";
    auto& names = draft.plugins[section];
    const auto note = [&](const nlohmann::json& value) { names.insert(value.is_string() ? value.get<std::string>() : ""); };
    bool always_set = false;
    for (const auto& group : draft.groups) {
      std::size_t setting = 0;
      for (const auto& alternative : group.alternatives)
        for (const auto& set : alternative.set)
          if (set.path == path) note(set.value), ++setting;
      always_set = always_set || setting == group.alternatives.size();
    }
    if (always_set) continue;
    const auto base = draft.base.find(path);
    if (base != draft.base.end())
      note(base->second.value);
    else if (section == "compression")
      names.insert(kDefaultCompression);
  }
}

}  // namespace

std::vector<std::pair<std::string, const Node*>> leaves(const Node& table) {
  std::vector<std::pair<std::string, const Node*>> result;
  collect(table, "", result);
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second->key.line, a.second->key.column) < std::tie(b.second->key.line, b.second->key.column);
  });
  return result;
}

Draft read_draft(const Node& document, const std::vector<std::string>& overrides, const std::string& default_name,
                 Diagnostics& diagnostics) {
  Draft draft{.name = default_name, .start = document.where};
  const auto sections = known_sections();
  for (const auto& child : document.children) {
    if (child.name == "grid" && child.is_table()) {
      draft.sections["grid"] = child.where;
      read_grid(child, draft, diagnostics);
    } else if (child.name == "published") {
      read_published(child, draft, diagnostics);
    } else if (std::find(sections.begin(), sections.end(), child.name) != sections.end()) {
      read_section(child, draft, diagnostics);
    } else if (child.name == "seed" || child.name == "seeds") {
      diagnostics.add(child.key, fmt::format("{} is no section; seeds are set in [grid]: seeds = [1, 2, 3]", child.name));
    } else {
      diagnostics.add(child.key, fmt::format("unknown section {}{}", child.name, suggestion(child.name, sections)));
    }
  }
  if (draft.groups.empty() || draft.groups.back().form != Group::Form::kSeeds)
    draft.groups.push_back(
        {Group::Form::kSeeds, document.where, {{document.where, {{"seed", 1, document.where, document.where}}}}});
  note_plugins(draft);
  apply_overrides(overrides, draft, diagnostics);
  note_plugins(draft);
  read_experiment(draft, diagnostics);
  return draft;
}

}  // namespace ablate
