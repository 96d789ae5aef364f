// One trial, from a resolved study point to its results.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ablate/task.h"
#include "core/config/metrics.h"
#include "core/runtime/instances.h"

namespace ablate {

struct TrialParts {
  const nlohmann::json& resolved;  ///< Trial::resolved (core/grid/study.h)
  Task& task;                      ///< loaded
  Chosen attention;
  Chosen compression;  ///< descriptor null where the attention takes none
};

struct Progress {
  std::int64_t step, steps;
  double loss;          ///< of the latest step
  double dev_accuracy;  ///< of the latest evaluation, in %; negative before the first
};

struct TrialResult {
  struct Point {
    std::string metric;
    std::int64_t step;
    double value;
  };
  std::map<std::string, double> values;  ///< final, by metric
  std::vector<Point> curve;
  std::vector<MetricInfo> metrics;  ///< definitions of all that occur
};

/// Trains, evaluates, tests. Same parts, same bits. Takes over the process: threads, seeds, device.
/// @param report called at most ten times a second
/// Throws std::exception with the reason: a loss that is not finite, a promise that the plugin does not make, a device that is
/// not there.
TrialResult run_trial(const TrialParts& parts, const std::function<void(const Progress&)>& report);

}  // namespace ablate
