// State of a running grid, for a person who watches it. No SQLite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ablate::db {

struct WatchedTrial {
  std::string key, label;
  std::string host;  ///< host, if the trial runs on another machine, where no process can be checked; "": this machine
  std::int64_t started_us = 0;
  std::int64_t step = 0, steps = 0;  ///< steps = 0: not reported yet
  std::optional<double> loss;        ///< the latest train/loss
  double elapsed_s = 0;
  std::optional<double> left_s;  ///< estimate from the steps so far; nullopt before the first step and after the last
};

/// Failed trials with the same outcome and reason. Reasons that differ only in numbers count as the same.
struct WatchedFailure {
  std::string reason;  ///< reason of the latest trial, in one line; the trial's outcome if it has no reason (a timeout)
  std::int64_t trials = 0;
  std::int64_t attempt = 0;  ///< number of the latest attempt
};

struct WatchedEnd {
  std::int64_t attempt = 0;
  std::string label, outcome, reason, metric;
  std::optional<double> value;  ///< value of `metric`, the trial's main metric
  double wall_s = 0;
};

/// An experiment's latest grid. Each of its trials is done, failed, queued or running. Imported trials are not part of it.
struct WatchState {
  std::string experiment;
  bool is_running = false;  ///< true if a live process reports that it runs a trial of the experiment
  std::int64_t trials = 0, done = 0;
  std::int64_t failed = 0;               ///< failed trials; during a run, without earlier failures that the run retries
  std::int64_t queued = 0;               ///< trials that are left to run; counted even if no run is active
  std::int64_t imported = 0;             ///< imported trials, which `trials` does not count
  std::vector<WatchedTrial> running;     ///< latest first; includes trials that only an earlier grid had
  std::vector<WatchedFailure> failures;  ///< most frequent first
  std::vector<WatchedEnd> latest;        ///< a few, latest first
  std::vector<std::string> next;         ///< labels of the first trials in the queue
  double elapsed_s = 0;                  ///< since the grid was written; 0 if nothing runs
  std::optional<double> left_s;          ///< estimate for the grid; nullopt if no trial allows an estimate
};

}  // namespace ablate::db
