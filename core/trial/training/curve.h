// Curves of a trial's metrics, with the points that are not reported yet.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "core/shared/messages.h"

namespace ablate {

/// Collects points and definitions of metrics until they are taken. A trial reports them while it runs, in case it fails.
class Curve {
 public:
  void add(const MetricInfo& metric, std::int64_t step, double value) {
    define(metric);
    pending_.points.push_back({metric.name, step, value});
  }
  /// Returns everything that was not taken yet.
  CurvePart take() {
    taken_.points.insert(taken_.points.end(), pending_.points.begin(), pending_.points.end());
    taken_.metrics.insert(taken_.metrics.end(), pending_.metrics.begin(), pending_.metrics.end());
    return std::exchange(pending_, {});
  }

  /// Returns all points and definitions, taken or not.
  nlohmann::json save() const;
  /// Loads saved points as not taken yet, because a resumed trial reports all of them to another listener.
  void load(const nlohmann::json& saved);

 private:
  void define(const MetricInfo& metric) {
    if (defined_.insert(metric.name).second) pending_.metrics.push_back(metric);
  }

  CurvePart taken_, pending_;
  std::set<std::string> defined_;
};

}  // namespace ablate
