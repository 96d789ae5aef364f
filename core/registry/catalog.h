// The plugins that can be used, by kind and id.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/registry/plugin_info.h"

namespace ablate {

struct Catalog {
  std::vector<PluginInfo> plugins;  ///< ids are unique within a kind

  const PluginInfo* find(Kind kind, std::string_view id) const {
    for (const auto& plugin : plugins)
      if (plugin.kind == kind && plugin.id == id) return &plugin;
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
