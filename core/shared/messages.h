// What a trial says while it runs, and at its end: the one place that knows how it is written on the channel. Torch-free.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
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
  std::int64_t step = 0, steps = 0;               ///< step 0: training begins
  double loss;                                    ///< of the latest step; NaN before the first
  MetricInfo dev_metric;                          ///< what selects the best weights; name empty before the first evaluation
  double dev;                                     ///< its latest value; NaN before the first evaluation
  CurvePart curve;                                ///< measured since the last report
  std::optional<std::int64_t> device_bytes = {};  ///< that it holds on its device now; nothing on the CPU
  bool operator==(const Progress&) const = default;
};

struct TrialResult {
  std::map<std::string, double> values;  ///< final, by metric
  std::string main_metric;               ///< "test/accuracy": of the metric that selected the best weights
  std::vector<MetricInfo> metrics;       ///< definitions of the values, and of values that other trials have
  CurvePart curve;                       ///< measured since the last report
  bool operator==(const TrialResult&) const = default;
};

/// What the trial goes on from: said before the first Progress, where there was a file of an earlier attempt at it.
struct Resumed {
  std::int64_t step = 0;  ///< done before; 0: no file could be used, and it begins anew
  std::string owner;      ///< CheckpointFile::owner of the file
  /// The other environments in which steps before were computed, the latest first: each as its environment_difference to this
  /// one.
  std::vector<nlohmann::json> environments = {};
  double wall_s = 0, cpu_s = 0;            ///< that the trial had taken by then
  std::int64_t peak_resident_bytes = 0;    ///< until then
  std::vector<std::string> unusable = {};  ///< of each file that was there and is not taken: which, and why
  bool operator==(const Resumed&) const = default;
};

/// A checkpoint was written, or could not be.
struct Saved {
  std::int64_t step = 0;    ///< done
  std::string failed = {};  ///< why it is not on disk; "": it is
  bool operator==(const Saved&) const = default;
};

using TrialSaid = std::variant<Progress, TrialResult, Resumed, Saved>;

/// NaN is null. From JSON: throws BadMessage.
nlohmann::json to_json(const Progress& progress);
nlohmann::json to_json(const TrialResult& result);
nlohmann::json to_json(const Resumed& resumed);
nlohmann::json to_json(const Saved& saved);
TrialSaid trial_said_from_json(const nlohmann::json& message);

}  // namespace ablate
