// The latest attempts, and those that run now.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/history/reader.h"

namespace ablate::db {

struct AttemptsRequest {
  std::string experiment;  ///< "": all
  bool failed = false;     ///< only those that are not done
  bool here = false;       ///< only those that ablate ran, and did not import
  std::int64_t most = 20;  ///< the latest so many; 0: all
};

struct AttemptLine {
  std::int64_t attempt = 0;  ///< its number; 0: it is running
  bool latest_grid = true;   ///< whether the latest grid has its trial: of the experiment asked about, else of any
  std::string experiments, key, label, outcome, reason;
  std::optional<double> value;  ///< of metric
  std::string metric;           ///< its trial's main metric, train/loss of what is running; "" where the list has none
  double wall_s = 0;            ///< of what is running: until now
  std::int64_t started_us = 0;
  std::int64_t step = 0, steps = 0;  ///< how far it got, of how many; 0: not known
  std::int64_t unlike = 0;           ///< an attempt that has other numbers in the same environment; 0: none
  std::string host;  ///< of what is running on another machine, so that nobody here can tell whether it still is
};

struct AttemptList {
  std::vector<MetricInfo> metrics;   ///< main_metrics of the lines' trials (db/questions/selection/selection.h)
  std::vector<AttemptLine> running;  ///< outcome "running": latest first; none where only failures are asked for
  std::vector<AttemptLine> lines;    ///< latest first
  std::int64_t total = 0;            ///< how many the request asks about, shown or not
  std::string none_yet;              ///< "ablate.db has no trials yet: ...", where that is so; else ""
};

/// A label names the parameters that vary in the trial's experiment (of several: the latest). Throws Error as
/// Reader::experiment.
AttemptList list_attempts(const Reader& reader, const AttemptsRequest& request);

}  // namespace ablate::db
