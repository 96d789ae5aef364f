// One point of the grid: the settings of a trial.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/host/study/schema.h"

namespace ablate {

struct Point {
  struct Setting {
    const Assignment* assignment = nullptr;
    bool by_grid = false;  ///< false: set by a base section, or an override
  };
  std::map<std::string, Setting> settings;  ///< by path; settings of the grid replace base settings
  std::vector<std::size_t> alternatives;    ///< index of the alternative in each group
};

/// Visits every point of the product, the last group fastest. The product must have at most kMostTrials points.
void each_point(const Draft& draft, const std::function<void(const Point&)>& visit);

/// Returns the number of points, or kMostTrials + 1 if there are more.
std::size_t count_points(const Draft& draft);

/// Returns the plugin of a section at a point, or the plugin with the nearest name (Schema::plugin). Returns null if the
/// section has no plugin, or belongs to a plugin that the point lacks. A section is a path: "attention.parts.0.compression".
const PluginInfo* plugin_of(const Schema& schema, const Point& point, const std::string& section);

}  // namespace ablate
