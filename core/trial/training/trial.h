// One trial, from a resolved study point to its results.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/trial/training/training.h"

namespace ablate {

struct Progress {
  std::int64_t step, steps;  ///< step 0: training begins
  double loss;               ///< of the latest step; NaN before the first
  MetricInfo dev_metric;     ///< what selects the checkpoint; name empty before the first evaluation
  double dev;                ///< its latest value
  CurvePart curve;           ///< measured since the last report
};

struct TrialResult {
  std::map<std::string, double> values;  ///< final, by metric
  std::string main_metric;               ///< "test/accuracy": of the metric that selected the checkpoint
  CurvePart curve;                       ///< measured since the last report, and the definitions of all values not yet told
};

/// Trains, evaluates, tests. Same parts, same bits. Takes over the process: threads, seeds, device.
/// @param report called at step 0, at most ten times a second, after the last step, and before an exception leaves: what a
/// trial has measured is told however it ends Throws std::exception with the reason: a loss that is not finite, a promise that
/// the plugin does not make, a device that is not there.
TrialResult run_trial(const TrialParts& parts, const std::function<void(const Progress&)>& report);

}  // namespace ablate
