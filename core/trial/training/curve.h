// Curves of a trial's metrics, with the points that are not reported yet.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "core/shared/messages.h"

namespace ablate {

/// Collects points and definitions until they are taken, so that a trial that fails has already reported them.
class Curve {
 public:
  void add(const MetricInfo& metric, std::int64_t step, double value) {
    define(metric);
    untold_.points.push_back({metric.name, step, value});
  }
  /// Returns everything that was not taken yet.
  CurvePart take() {
    told_.points.insert(told_.points.end(), untold_.points.begin(), untold_.points.end());
    told_.metrics.insert(told_.metrics.end(), untold_.metrics.begin(), untold_.metrics.end());
    return std::exchange(untold_, {});
  }

  /// Returns all points and definitions, taken or not.
  nlohmann::json save() const;
  /// Loads saved points as not taken yet, because a resumed trial reports all of them to another listener.
  void load(const nlohmann::json& saved);

 private:
  void define(const MetricInfo& metric) {
    if (defined_.insert(metric.name).second) untold_.metrics.push_back(metric);
  }

  CurvePart told_, untold_;
  std::set<std::string> defined_;
};

}  // namespace ablate
