// What a trial has measured and not yet told.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "core/shared/messages.h"

namespace ablate {

/// Gathers points and definitions until they are taken, so that a trial which does not end well has told what it had.
class Curve {
 public:
  void define(const MetricInfo& metric) {
    if (defined_.insert(metric.name).second) untold_.metrics.push_back(metric);
  }
  void add(const MetricInfo& metric, std::int64_t step, double value) {
    define(metric);
    untold_.points.push_back({metric.name, step, value});
  }
  /// What was not yet taken.
  CurvePart take() { return std::exchange(untold_, {}); }

  /// What was not yet taken, and which definitions were.
  nlohmann::json save() const;
  void load(const nlohmann::json& saved);

 private:
  CurvePart untold_;
  std::set<std::string> defined_;
};

}  // namespace ablate
