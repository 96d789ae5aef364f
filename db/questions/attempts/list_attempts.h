// The latest and the running attempts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/history/reader.h"

namespace ablate::db {

struct AttemptsRequest {
  std::string experiment;  ///< "": all experiments
  bool failed = false;     ///< only attempts that are not done
  bool here = false;       ///< only attempts that ran here, without imports
  std::int64_t most = 20;  ///< number of latest attempts; 0: all
};

struct AttemptLine {
  std::int64_t attempt = 0;  ///< number of the attempt; 0: it is running
  /// True if the trial is in the latest grid of the requested experiment, or, if none is requested, of any experiment.
  bool latest_grid = true;
  std::string experiments, key, label, outcome, reason;
  std::optional<double> value;  ///< value of `metric`
  std::string metric;           ///< the trial's main metric; train/loss if the attempt runs; "" if the list has no metrics
  double wall_s = 0;            ///< time until now if the attempt is running
  std::int64_t started_us = 0;
  std::int64_t step = 0, steps = 0;  ///< steps done, and steps in all; 0: not known
  std::int64_t unlike = 0;  ///< number of an attempt at the trial in the same environment with different results; 0: none
  std::string host;         ///< host if the attempt runs on another machine, whose processes cannot be checked
};

struct AttemptList {
  std::vector<MetricInfo> metrics;   ///< main_metrics of the lines' trials (db/questions/selection/selection.h)
  std::vector<AttemptLine> running;  ///< outcome "running", latest first; empty if only failures are requested
  std::vector<AttemptLine> lines;    ///< latest first
  std::int64_t total = 0;            ///< number of attempts that match the request, shown or not
  std::string none_yet;              ///< "ablate.db has no trials yet: ..."; "" if there are trials or attempts
};

/// Lists attempts. A label names the parameters that vary in the trial's latest experiment.
/// Throws Error with the nearest name if the experiment is not known.
AttemptList list_attempts(const Reader& reader, const AttemptsRequest& request);

}  // namespace ablate::db
