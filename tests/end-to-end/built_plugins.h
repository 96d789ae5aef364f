// The plugins of this build, as the program lists them.
#pragma once

#include "core/registry/catalog.h"
#include "tests/end-to-end/ablate.h"

inline ablate::Catalog built_plugins() {
  Workplace place;
  const auto ended = place.run({"plugins", "--format", "json"});
  ablate::Catalog all;
  for (const auto& plugin : nlohmann::json::parse(ended.out)) all.plugins.push_back(ablate::plugin_info_from_json(plugin));
  return all;
}
