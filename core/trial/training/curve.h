// What a trial has measured, and what of it was not yet told.
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
  void add(const MetricInfo& metric, std::int64_t step, double value) {
    define(metric);
    untold_.points.push_back({metric.name, step, value});
  }
  /// What was not yet taken.
  CurvePart take() {
    told_.points.insert(told_.points.end(), untold_.points.begin(), untold_.points.end());
    told_.metrics.insert(told_.metrics.end(), untold_.metrics.begin(), untold_.metrics.end());
    return std::exchange(untold_, {});
  }

  /// All of it.
  nlohmann::json save() const;
  /// Nothing of it is told then: whoever goes on tells it all, to another listener.
  void load(const nlohmann::json& saved);

 private:
  void define(const MetricInfo& metric) {
    if (defined_.insert(metric.name).second) untold_.metrics.push_back(metric);
  }

  CurvePart told_, untold_;
  std::set<std::string> defined_;
};

}  // namespace ablate
