// What a trial says while it runs, and at its end: the one place that knows how it is written on the channel. Torch-free.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "core/records/curve_point.h"
#include "core/records/metric.h"
#include "core/util/error.h"

namespace ablate {

/// A message that is none of its type: what() says the message, the field, what was found and what was expected.
struct BadMessage : Error {
  using Error::Error;
};

/// A part of a trial's curves. The parts of a trial, one after the other, are all of it.
struct CurvePart {
  std::vector<CurvePoint> points;
  std::vector<MetricInfo> metrics;  ///< definitions that no part before has told
  bool operator==(const CurvePart&) const = default;
};

struct Progress {
  std::int64_t step = 0, steps = 0;  ///< step 0: training begins
  double loss;                       ///< of the latest step; NaN before the first
  MetricInfo dev_metric;             ///< what selects the checkpoint; name empty before the first evaluation
  double dev;                        ///< its latest value; NaN before the first evaluation
  CurvePart curve;                   ///< measured since the last report
  bool operator==(const Progress&) const = default;
};

struct TrialResult {
  std::map<std::string, double> values;  ///< final, by metric
  std::string main_metric;               ///< "test/accuracy": of the metric that selected the checkpoint
  CurvePart curve;                       ///< measured since the last report, and the definitions of all values not yet told
  bool operator==(const TrialResult&) const = default;
};

using TrialSaid = std::variant<Progress, TrialResult>;

/// NaN is null. From JSON: throws BadMessage.
nlohmann::json to_json(const Progress& progress);
nlohmann::json to_json(const TrialResult& result);
TrialSaid trial_said_from_json(const nlohmann::json& message);

}  // namespace ablate
