// What a trial says while it runs, and at its end: the one place that knows how it is written on the channel. Torch-free.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/records/curve_point.h"
#include "core/records/metric.h"

namespace ablate {

/// A part of a trial's curves. The parts of a trial, one after the other, are all of it.
struct CurvePart {
  std::vector<CurvePoint> points;
  std::vector<MetricInfo> metrics;  ///< definitions that no part before has told
};

struct Progress {
  std::int64_t step = 0, steps = 0;  ///< step 0: training begins
  double loss;                       ///< of the latest step; NaN before the first
  MetricInfo dev_metric;             ///< what selects the checkpoint; name empty before the first evaluation
  double dev;                        ///< its latest value; NaN before the first evaluation
  CurvePart curve;                   ///< measured since the last report
};

struct TrialResult {
  std::map<std::string, double> values;  ///< final, by metric
  std::string main_metric;               ///< "test/accuracy": of the metric that selected the checkpoint
  CurvePart curve;                       ///< measured since the last report, and the definitions of all values not yet told
};

/// A message is one of these, {"failed": why} or {"crashed": where}. NaN is null. From JSON: throws nlohmann::json::exception.
nlohmann::json to_json(const Progress& progress);
nlohmann::json to_json(const TrialResult& result);
bool is_result(const nlohmann::json& message);
Progress progress_from_json(const nlohmann::json& message);
TrialResult result_from_json(const nlohmann::json& message);
/// Of a message of any kind; empty where it has none.
CurvePart curve_from_json(const nlohmann::json& message);

}  // namespace ablate
