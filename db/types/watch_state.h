// A grid of trials as it runs, for whoever watches it. No SQLite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ablate::db {

/// A trial that runs now.
struct WatchedTrial {
  std::string key, label;
  std::string host;  ///< of another machine, so that nobody here can tell whether it still runs; "": this one
  std::int64_t started_us = 0;
  std::int64_t step = 0, steps = 0;  ///< 0 steps: it has not said
  std::optional<double> loss;        ///< the latest train/loss
  double elapsed_s = 0;
  std::optional<double> left_s;  ///< of its steps, at their speed so far; nothing before the first and after the last
};

/// Trials that are not done for one reason. Reasons that differ in numbers alone are one.
struct WatchedFailure {
  std::string reason;  ///< of the latest, one line; of a timeout without one the outcome
  std::int64_t trials = 0;
  std::int64_t attempt = 0;  ///< the latest, by number
};

/// An attempt that has ended.
struct WatchedEnd {
  std::int64_t attempt = 0;
  std::string label, outcome, reason, metric;
  std::optional<double> value;  ///< of metric, its trial's main one
  double wall_s = 0;
};

/// An experiment's latest grid. Each of its trials is done, failed, queued or runs; imported ones are none of it.
struct WatchState {
  std::string experiment;
  bool is_running = false;  ///< whether a process lives that says it runs a trial of it
  std::int64_t trials = 0, done = 0;
  std::int64_t failed = 0;               ///< while it runs, those of this run: earlier ones are run again
  std::int64_t queued = 0;               ///< while nothing runs: not done, and not failed
  std::int64_t imported = 0;             ///< trials beside these that ran elsewhere
  std::vector<WatchedTrial> running;     ///< latest first; also one that only an earlier grid had
  std::vector<WatchedFailure> failures;  ///< the most frequent first
  std::vector<WatchedEnd> latest;        ///< a few, latest first
  std::vector<std::string> next;         ///< labels of the first of the queue
  double elapsed_s = 0;                  ///< since the grid was written; 0 while nothing runs
  std::optional<double> left_s;          ///< of the grid; nothing where none of its trials tells
};

}  // namespace ablate::db
