// Available plugins, by kind and id.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/plugin_info.h"

namespace ablate {

/// Library that cannot be used. Its plugin's id is unknown, but by convention the file's stem is the id.
struct RefusedLibrary {
  std::filesystem::path path;
  std::string reason;
};

struct Catalog {
  std::vector<PluginInfo> plugins;  ///< ids are unique within a kind
  std::vector<RefusedLibrary> refused;
  /// Returns a text for a missing plugin's id: the searched folders, and the remedy. Null if the folders are unknown.
  std::function<std::string(const std::string& id)> where_looked;

  const PluginInfo* find(Kind kind, std::string_view id) const {
    for (const auto& plugin : plugins)
      if (plugin.kind == kind && plugin.id == id) return &plugin;
    return nullptr;
  }
  /// Returns the refused library that an unknown id may mean, or nullptr if there is none.
  const RefusedLibrary* find_refused(std::string_view id) const {
    for (const auto& library : refused)
      if (library.path.stem() == id) return &library;
    return nullptr;
  }
  std::vector<std::string> ids(Kind kind) const {
    std::vector<std::string> result;
    for (const auto& plugin : plugins)
      if (plugin.kind == kind) result.push_back(plugin.id);
    return result;
  }
};

}  // namespace ablate
