// One point of the grid: the settings that a trial is made from.
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
    bool by_grid = false;  ///< else by a base section, or an override
  };
  std::map<std::string, Setting> settings;  ///< by path; the grid's before the base's
  std::vector<std::size_t> alternatives;    ///< of each group, which alternative
};

/// Visits every point of the product, the last group fastest. Must not be more than kMostTrials of them.
void each_point(const Draft& draft, const std::function<void(const Point&)>& visit);

/// The number of points, kMostTrials + 1 where there are more.
std::size_t count_points(const Draft& draft);

/// The plugin of a section at a point, or its stand-in (schema.h); nullptr where there is none, or where the section is one of
/// a plugin that the point does not have. @param section a path: "attention", "attention.parts.0.compression"
const PluginInfo* plugin_of(const Schema& schema, const Point& point, const std::string& section);

}  // namespace ablate
