// Messages of a trial while it runs and at its end. Only messages.cpp converts them to their form on the channel. Torch-free.
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

/// A message that does not match its type. what() names the message, the field, the value found and the value expected.
struct BadMessage : Error {
  using Error::Error;
};

/// Part of a trial's curves. Joined in order, all parts are the whole curves.
struct CurvePart {
  std::vector<CurvePoint> points;
  std::vector<MetricInfo> metrics;  ///< definitions that were in no earlier part
  bool operator==(const CurvePart&) const = default;
};

struct Progress {
  std::int64_t step = 0, steps = 0;               ///< step 0: training begins
  double loss;                                    ///< loss of the latest step; NaN before the first
  MetricInfo dev_metric;                          ///< selects the best weights; its name is empty before the first evaluation
  double dev;                                     ///< latest value of dev_metric; NaN before the first evaluation
  CurvePart curve;                                ///< measured since the last report
  std::optional<std::int64_t> device_bytes = {};  ///< bytes in use on the trial's device now; nullopt on the CPU
  bool operator==(const Progress&) const = default;
};

struct TrialResult {
  std::map<std::string, double> values;  ///< final, by metric
  std::string main_metric;               ///< "test/accuracy": test result of the metric that selected the best weights
  std::vector<MetricInfo> metrics;       ///< definitions of the values, and of training metrics that have no value here
  CurvePart curve;                       ///< measured since the last report
  bool operator==(const TrialResult&) const = default;
};

/// Checkpoint that the trial resumes from. Sent before the first Progress, if an earlier attempt at the trial left a file.
struct Resumed {
  std::int64_t step = 0;  ///< steps done before; 0: no file could be used, and the trial starts at step 0
  std::string owner;      ///< CheckpointFile::owner of the file
  /// Other environments that computed earlier steps, the latest first, each as an environment_difference to this attempt's.
  std::vector<nlohmann::json> environments = {};
  double wall_s = 0, cpu_s = 0;            ///< spent by the trial until that step
  std::int64_t peak_resident_bytes = 0;    ///< until that step
  std::vector<std::string> unusable = {};  ///< path and reason of each file that was there but could not be used
  bool operator==(const Resumed&) const = default;
};

/// Reports that a checkpoint was written, or could not be written.
struct Saved {
  std::int64_t step = 0;    ///< steps done
  std::string failed = {};  ///< reason why the checkpoint is not on disk; "": it is on disk
  bool operator==(const Saved&) const = default;
};

using TrialSaid = std::variant<Progress, TrialResult, Resumed, Saved>;

/// NaN becomes null in JSON. trial_said_from_json throws BadMessage.
nlohmann::json to_json(const Progress& progress);
nlohmann::json to_json(const TrialResult& result);
nlohmann::json to_json(const Resumed& resumed);
nlohmann::json to_json(const Saved& saved);
TrialSaid trial_said_from_json(const nlohmann::json& message);

}  // namespace ablate
