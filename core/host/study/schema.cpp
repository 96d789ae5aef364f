#include "core/host/study/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/shared/sections.h"
#include "core/util/nearest.h"

namespace ablate {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

Kind kind_of(const std::string& section) {
  return section == "task" ? Kind::kTask : section == "attention" ? Kind::kAttention : Kind::kCompression;
}

bool has_plugin(const std::string& section) { return contains(kPluginSections, section); }

std::pair<std::string, std::string> split_path(const std::string& path) {
  const auto dot = path.find('.');
  return dot == std::string::npos ? std::pair(path, std::string()) : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

Schema::Schema(const Catalog& catalog, const std::map<std::string, std::set<std::string>>& plugins) : catalog_(catalog) {
  for (const auto& section : kSections) used_[section];
  for (const auto& [section, ids] : plugins) {
    for (const auto& id : ids) {
      if (const auto* info = plugin(section, id))
        used_[section].push_back(info);
      else
        open_.insert(section);
    }
    if (ids.empty()) open_.insert(section);
  }
}

const PluginInfo* Schema::plugin(const std::string& section, const std::string& id) const {
  const auto kind = kind_of(section);
  if (const auto* found = catalog_.find(kind, id)) return found;
  if (id.empty() || refused_library(id) != nullptr) return nullptr;
  return catalog_.find(kind, nearest(id, catalog_.ids(kind)));
}

const RefusedLibrary* Schema::refused_library(const std::string& id) const {
  for (const auto& section : kPluginSections)
    if (catalog_.find(kind_of(section), id) != nullptr) return nullptr;
  return catalog_.find_refused(id);
}

std::string Schema::refuse_plugin(const std::string& section, const std::string& id) const {
  const auto kind = kind_of(section);
  if (catalog_.find(kind, id) != nullptr) return "";
  for (const auto& other : kPluginSections)
    if (catalog_.find(kind_of(other), id) != nullptr)
      return fmt::format("{} is a plugin for [{}], not for [{}] (known: {})", id, other, section,
                         fmt::join(catalog_.ids(kind), ", "));
  if (const auto* library = refused_library(id))
    return fmt::format("{} plugin \"{}\": {} is refused: {}", section, id, library->path.string(), library->reason);
  const auto ids = catalog_.ids(kind);
  const auto near = nearest(id, ids);
  return fmt::format("unknown {} plugin \"{}\" ({}known: {})", section, id, near.empty() ? "" : "did you mean " + near + "? ",
                     ids.empty() ? "none; see ablate plugins" : fmt::format("{}", fmt::join(ids, ", ")));
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
  if (!has_plugin(section)) {
    if (const auto* parameter = find(section, nullptr, key)) result.push_back(parameter);
    return result;
  }
  for (const auto* plugin : used_.at(section))
    if (const auto* parameter = find(section, plugin, key)) result.push_back(parameter);
  return result;
}

std::vector<std::string> Schema::keys(const std::string& section) const {
  std::vector<std::string> names;
  if (has_plugin(section)) names.push_back("plugin");
  const auto add = [&](const PluginInfo* plugin) {
    for (const auto& parameter : parameters(section, plugin))
      if (!contains(names, parameter.name)) names.push_back(parameter.name);
  };
  if (!has_plugin(section)) add(nullptr);
  for (const auto* plugin : used_.at(section)) add(plugin);
  return names;
}

std::string Schema::refuse_path(const std::string& path) const {
  const auto [section, key] = split_path(path);
  if (contains(kSections, section)) {
    if (!key.empty()) return refuse_key(section, key);
    return has_plugin(section)
               ? fmt::format("{0} is a section; its plugin is {0}.plugin", section)
               : fmt::format("{0} is a section; name a key of it, as in {0}.{1}", section, keys(section).front());
  }
  if (section == "seed" || section == "seeds") return "seeds are set by grid.seeds alone, as in seeds = [1, 2, 3]";
  if (section == "grid") return "a path is written without grid.: seeds=2, train.steps=200";
  if (section == "experiment") return "[experiment] is the same for all trials";
  if (key.empty()) {
    std::vector<std::string> paths = {"seeds"};  // none, but the grid and the command line take it where they take paths
    for (const auto& one : kSections)
      for (const auto& name : keys(one)) paths.push_back(one + "." + name);
    return fmt::format("unknown path {}{}", path, hint(path, paths));
  }
  return fmt::format("unknown section {} in {}{}", section, path, suggestion(section, kSections));
}

std::string Schema::refuse_key(const std::string& section, const std::string& key) const {
  if (key == "plugin" && has_plugin(section)) return "";
  if (!find_all(section, key).empty() || open_.contains(section)) return "";
  const auto names = keys(section);
  std::string remedy;
  if (nearest(key, names).empty()) {
    std::vector<std::string> owners;
    if (has_plugin(section))
      for (const auto& plugin : catalog_.plugins)
        if (plugin.kind == kind_of(section) && plugin.find(key) != nullptr) owners.push_back(plugin.id);
    if (!owners.empty()) remedy = fmt::format(" (the study uses no plugin that has it: {})", fmt::join(owners, ", "));
    for (const auto& other : kSections)
      if (remedy.empty() && other != section && !find_all(other, key).empty())
        remedy = fmt::format(" (did you mean {}.{}?)", other, key);
  }
  return fmt::format("unknown key {} in [{}]{}", key, section, remedy.empty() ? suggestion(key, names) : remedy);
}

bool Schema::takes_compression() const {
  const auto& attentions = used_.at("attention");
  return open_.contains("attention") ||
         std::any_of(attentions.begin(), attentions.end(), [](const auto* a) { return a->capabilities.takes_compression; });
}

}  // namespace ablate
