// What a trial has measured and not yet told.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/shared/metrics.h"

namespace ablate {

struct CurvePoint {
  std::string metric;
  std::int64_t step;
  double value;
};

/// A part of a trial's curves. The parts of a trial, one after the other, are all of it.
struct CurvePart {
  std::vector<CurvePoint> points;
  std::vector<MetricInfo> metrics;  ///< definitions that no part before has told
};

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

 private:
  CurvePart untold_;
  std::set<std::string> defined_;
};

}  // namespace ablate
