// The plugins that can be used, by kind and id.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/plugin_info.h"

namespace ablate {

/// A library that cannot be used. It cannot say its id, either: by convention that is the file's stem.
struct RefusedLibrary {
  std::filesystem::path path;
  std::string reason;
};

struct Catalog {
  std::vector<PluginInfo> plugins;  ///< ids are unique within a kind
  std::vector<RefusedLibrary> refused;
  /// Where a plugin of an id, which is not there, was looked for, and the remedy; empty: nothing is known of that.
  std::function<std::string(const std::string& id)> where_looked;

  const PluginInfo* find(Kind kind, std::string_view id) const {
    for (const auto& plugin : plugins)
      if (plugin.kind == kind && plugin.id == id) return &plugin;
    return nullptr;
  }
  /// The refused library that may have been meant by an id which no plugin has; nullptr where there is none.
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
