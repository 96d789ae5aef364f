#include "core/host/study/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/records/setting_paths.h"
#include "core/shared/sections.h"
#include "core/util/nearest.h"

namespace ablate {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Names of keys in other tools.
constexpr std::pair<const char*, const char*> kOtherNames[] = {
    {"lr", "learning_rate"},    {"epochs", "steps"},       {"max_steps", "steps"},     {"iterations", "steps"},
    {"batch_size", "batch"},    {"dim", "d_model"},        {"hidden_size", "d_model"}, {"embed_dim", "d_model"},
    {"num_layers", "layers"},   {"depth", "layers"},       {"num_heads", "heads"},     {"n_heads", "heads"},
    {"warmup_steps", "warmup"}, {"scheduler", "schedule"}, {"ffn_dim", "hidden"},      {"amp", "dtype"},
};

/// Returns " (it is called learning_rate here)", or "" if the name is unknown or `names` lacks our key for it.
std::string other_name(const std::string& name, const std::vector<std::string>& names) {
  for (const auto& [theirs, ours] : kOtherNames)
    if (name == theirs && std::find(names.begin(), names.end(), ours) != names.end())
      return fmt::format(" (it is called {} here)", ours);
  return "";
}

}  // namespace

Schema::Schema(const Catalog& catalog, const std::map<std::string, std::set<std::string>>& plugins) : catalog_(catalog) {
  sections_["model"], sections_["train"];
  add("task", Kind::kTask, plugins);
  bool layers = false;
  for (const auto& [path, ids] : plugins)
    if (const auto [above, key] = split_path(path); above == "attention" && is_index(key))
      add(path, Kind::kAttention, plugins), layers = true;
  add("attention", Kind::kAttention, plugins);
  if (layers && sections_["attention"].used.empty()) sections_["attention"].open = false;
}

void Schema::add(const std::string& path, Kind kind, const std::map<std::string, std::set<std::string>>& plugins) {
  if (const auto there = sections_.find(path); there != sections_.end() && there->second.kind == kind) return;
  auto& section = sections_[path];
  section.kind = kind;
  const auto named = plugins.find(path);
  section.open = named == plugins.end() || named->second.empty();
  if (section.open) return;
  for (const auto& id : named->second) {
    const auto* info = plugin(kind, id);
    if (info == nullptr)
      section.open = true;
    else if (std::find(section.used.begin(), section.used.end(), info) == section.used.end())
      section.used.push_back(info);
  }
  for (const auto* used : std::vector(section.used))
    for (const auto& parameter : used->parameters) {
      const auto inner = parameter.plugin_kind();
      const auto below = path + "." + parameter.name;
      if (parameter.type == ParameterType::kPlugin) add(below, *inner, plugins);
      if (parameter.type != ParameterType::kPlugins) continue;
      for (auto entry = plugins.lower_bound(below + "."); entry != plugins.end() && is_below(entry->first, below); ++entry)
        if (is_index(entry->first.substr(below.size() + 1))) add(entry->first, *inner, plugins);
    }
}

const PluginInfo* Schema::plugin(Kind kind, const std::string& id) const {
  if (const auto* found = catalog_.find(kind, id)) return found;
  if (id.empty() || refused_library(id) != nullptr) return nullptr;
  return catalog_.find(kind, nearest(id, catalog_.ids(kind)));
}

const RefusedLibrary* Schema::refused_library(const std::string& id) const {
  for (const auto& [kind, name, part] : kPluginKinds)
    if (catalog_.find(kind, id) != nullptr) return nullptr;
  return catalog_.find_refused(id);
}

std::string Schema::known(Kind kind) const {
  const auto ids = catalog_.ids(kind);
  return ids.empty() ? "none; see ablate plugins" : fmt::format("{}", fmt::join(ids, ", "));
}

std::string Schema::refuse_plugin(const std::string& section, Kind kind, const std::string& id) const {
  if (catalog_.find(kind, id) != nullptr) return "";
  for (const auto& [other, name, part] : kPluginKinds)
    if (catalog_.find(other, id) != nullptr)
      return fmt::format("{} is a plugin of the kind {}, and [{}] takes the kind {} (known: {})", id, name, section,
                         to_text(kind), known(kind));
  if (const auto* library = refused_library(id))
    return fmt::format("{} plugin \"{}\": {} is refused: {}", to_text(kind), id, library->path.string(), library->reason);
  const auto near = nearest(id, catalog_.ids(kind));
  return fmt::format("unknown {} plugin \"{}\" ({}known: {}){}", to_text(kind), id,
                     near.empty() ? "" : "did you mean " + near + "? ", known(kind),
                     catalog_.where_looked ? "; " + catalog_.where_looked(id) : "");
}

std::span<const ParameterInfo> Schema::parameters(const std::string& section, const PluginInfo* plugin) {
  if (section == "model") return model_parameters();
  if (section == "train") return train_parameters();
  return plugin != nullptr ? std::span<const ParameterInfo>(plugin->parameters) : std::span<const ParameterInfo>();
}

const ParameterInfo* Schema::find(const std::string& section, const PluginInfo* plugin, const std::string& key) {
  for (const auto& parameter : parameters(section, plugin))
    if (parameter.name == key) return &parameter;
  return nullptr;
}

std::vector<const ParameterInfo*> Schema::find_all(const std::string& section, const std::string& key) const {
  std::vector<const ParameterInfo*> result;
  const auto found = sections_.find(section);
  if (found == sections_.end()) return result;
  if (!found->second.kind)
    if (const auto* parameter = find(section, nullptr, key)) result.push_back(parameter);
  for (const auto* plugin : found->second.used)
    if (const auto* parameter = plugin->find(key)) result.push_back(parameter);
  return result;
}

std::optional<Kind> Schema::kind_of(const std::string& section) const {
  const auto found = sections_.find(section);
  return found == sections_.end() ? std::nullopt : found->second.kind;
}

std::vector<std::string> Schema::keys(const std::string& section) const {
  std::vector<std::string> names;
  const auto& known = sections_.at(section);
  if (known.kind) names.emplace_back("plugin");
  const auto add = [&](const PluginInfo* plugin) {
    for (const auto& parameter : parameters(section, plugin))
      if (!contains(names, parameter.name)) names.push_back(parameter.name);
  };
  if (!known.kind) add(nullptr);
  for (const auto* plugin : known.used) add(plugin);
  return names;
}

/// Splits a path into the deepest section that it goes through, and the rest.
std::pair<std::string, std::string> Schema::split_section(const std::string& path) const {
  auto [section, rest] = split_first(path);
  while (!rest.empty()) {
    auto end = rest.find('.');
    // The section of a list's entry is a name and a number: parts.0.
    if (end != std::string::npos && !sections_.contains(section + "." + rest.substr(0, end))) end = rest.find('.', end + 1);
    const auto below = section + "." + rest.substr(0, end);
    if (!sections_.contains(below)) break;
    section = below;
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  return {section, rest};
}

std::string Schema::refuse_path(const std::string& path) const {
  const auto first = split_first(path).first;
  if (contains(kSections, first)) {
    const auto [section, key] = split_section(path);
    if (!key.empty()) return refuse_key(section, key);
    if (section == "attention")
      return "attention is a section; set its plugin with attention.plugin, or a plugin for each layer with "
             "attention=[{plugin=\"linear\"}, {plugin=\"softmax\"}]";
    return kind_of(section) ? fmt::format("{0} is a section; its plugin is {0}.plugin", section)
                            : fmt::format("{0} is a section; name a key of it, as in {0}.{1}", section, keys(section).front());
  }
  if (first == "seed" || first == "seeds") return "seeds are set only by grid.seeds, as in seeds = [1, 2, 3]";
  if (first == "grid") return "write a path without the prefix \"grid.\", as in seeds=2 or train.steps=200";
  if (first == "experiment") return "[experiment] is the same for all trials";
  if (first == "compression")
    return fmt::format("a compression belongs to the attention that reads it: write attention.{}{}", path,
                       path == first ? ".plugin" : "");
  if (path == first) {
    std::vector<std::string> paths = {"seeds"};  // not a path; the grid and the command line accept it like a path
    for (const auto& [section, unused] : sections_)
      for (const auto& name : keys(section)) paths.push_back(section + "." + name);
    return fmt::format("unknown path {}{}", path, hint(path, paths));
  }
  return fmt::format("unknown section {} in {}{}", first, path, suggestion(first, kSections));
}

bool Schema::known_elsewhere(const std::string& path) const {
  const auto [section, key] = split_section(path);
  return !owners(section, split_first(key).first).empty();
}

std::vector<std::string> Schema::owners(const std::string& section, const std::string& key) const {
  std::vector<std::string> ids;
  for (const auto& plugin : catalog_.plugins)
    if (plugin.kind == kind_of(section) && plugin.find(key) != nullptr) ids.push_back(plugin.id);
  return ids;
}

std::string Schema::refuse_key(const std::string& section, const std::string& key) const {
  if (sections_.at(section).open || (key == "plugin" && kind_of(section))) return "";
  const auto [name, below] = split_first(key);
  if (section == "attention" && is_index(name) && sections_.contains(setting::layer(0))) return beyond(section, name);
  if (section == "attention" && is_index(name))
    return "attention is one plugin for all layers; a different one for each layer is a list, [[attention]]";
  if (!find_all(section, name).empty()) return below.empty() ? "" : refuse_below(section, name, below);
  if (const auto entries = entries_with(section, name); !entries.empty())
    return fmt::format("unknown key {} in [{}]: {} is a list here, its entries are counted from 0 (did you mean {}?)", name,
                       section, section, fmt::join(entries, ", "));
  const auto names = keys(section);
  if (name == "seed" || name == "seeds") return refuse_path(name);
  auto remedy = other_name(name, names);
  if (remedy.empty() && nearest(name, names).empty()) {
    if (const auto ids = owners(section, name); !ids.empty())
      remedy = fmt::format(" (plugins with this parameter, which the study does not use: {})", fmt::join(ids, ", "));
    for (const auto& [other, unused] : sections_)
      if (remedy.empty() && other != section && !find_all(other, name).empty())
        remedy = fmt::format(" (did you mean {}.{}?)", other, name);
  }
  return fmt::format("unknown key {} in [{}]{}", name, section, remedy.empty() ? suggestion(name, names) : remedy);
}

/// Returns the paths of a key in all entries of a list whose plugins have the key: "attention.0.heads".
std::vector<std::string> Schema::entries_with(const std::string& list, const std::string& key) const {
  std::vector<std::string> paths;
  for (int i = 0; sections_.contains(fmt::format("{}.{}", list, i)); ++i)
    if (const auto entry = fmt::format("{}.{}", list, i); !find_all(entry, key).empty()) paths.push_back(entry + "." + key);
  return paths;
}

/// Returns the error for an index that no trial's list has.
std::string Schema::beyond(const std::string& list, const std::string& index) const {
  int count = 0;
  while (sections_.contains(fmt::format("{}.{}", list, count))) ++count;
  return fmt::format("there is no {0}.{1}: {0} has {2} {3}, the last is {0}.{4}", list, index, count,
                     count == 1 ? "entry" : "entries", count - 1);
}

/// Returns the error for a path that continues after a parameter, although the parameter has no sections.
std::string Schema::refuse_below(const std::string& section, const std::string& key, const std::string& below) const {
  const auto path = section + "." + key;
  const bool is_list = find_all(section, key).front()->type == ParameterType::kPlugins;
  if (const auto index = split_first(below).first; is_list && is_index(index) && sections_.contains(path + ".0"))
    return beyond(path, index);
  if (is_list)
    return fmt::format(
        "{0}.{1}: {0} is a list, its entries are counted from 0, as in {0}.0.plugin; a list as one value of an "
        "axis is [[{{...}}, {{...}}], ...]",
        path, below);
  return fmt::format("{0} takes a value, and {0}.{1} is no path", path, below);
}

}  // namespace ablate
