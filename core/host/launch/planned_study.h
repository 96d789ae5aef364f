// A study before its trials run: checked, with the key of each trial.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/launch/dev_choice.h"
#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/scheduler.h"
#include "core/host/scheduler/task_memory.h"
#include "core/registry/scan.h"

namespace ablate {

/// Receives a line for the user, without a line end.
using Note = std::function<void(const std::string& line)>;

struct LaunchRequest {
  std::filesystem::path study;         ///< the TOML file
  std::filesystem::path database;      ///< the history; may be missing
  std::vector<std::string> overrides;  ///< "train.steps=200", in the syntax of load_study
  std::vector<std::string> only;       ///< the first digits of keys; empty: all trials
  int at_a_time = 0;                   ///< trials at a time; 0: auto, processors / train.threads
  bool again = false;                  ///< runs done trials, too
  int prove = 0;  ///< smallest number of trials to repeat for a proof that an edit of code changed no number; 0: no proof
  std::optional<double> timeout_s = {};  ///< time limit of a trial, replaces the limit in the study; 0: none
  std::int64_t memory_bytes = 0;         ///< see RunOptions, also for `retry` and `max_failures`
  std::set<std::string> retry = {};
  MostFailures max_failures = {};
  std::string notify = {};                            ///< shell command (Notifier of core/host/scheduler/scheduler.h); "": none
  std::function<void(std::int64_t)> after_step = {};  ///< see RunOptions
  std::int64_t listed_us = 0;                         ///< db::Experiment::listed_us
  /// RunOptions::is_bench. If true, other studies of this name belong to the same experiment, and no warning names them.
  bool is_bench = false;
};

/// Can be moved, but not copied, because some members point to trials in other members.
struct PlannedStudy {
  PlannedStudy(LaunchRequest request, Catalog with, Study resolved);
  PlannedStudy(PlannedStudy&&) = default;
  PlannedStudy(const PlannedStudy&) = delete;
  PlannedStudy& operator=(const PlannedStudy&) = delete;

  LaunchRequest asked;
  Catalog catalog;
  Study study;
  TaskMemory memory;                          ///< the user's cache
  std::vector<PlannedTrial> planned;          ///< every trial of the study, at all values that dev may choose
  std::vector<const PlannedTrial*> named;     ///< planned trials that --only names, or all trials
  DevChoice choice;                           ///< values that dev has chosen according to the history
  std::vector<const PlannedTrial*> wanted;    ///< named trials in the grid, with the values that dev has chosen so far
  std::vector<PluginInfo> used;               ///< plugins that any trial uses
  int cores = 1, threads = 1, at_a_time = 1;  ///< processors for this process; largest train.threads; trials at a time

  /// Returns placeholders for the trials that will be wanted once dev has chosen. The choice is not known yet, so the
  /// placeholders are the trials at each cell's first value (DevChoice::awaited). Empty with --only.
  std::vector<const PlannedTrial*> awaited() const;
};

/// Returns a warning if `together` trials at a time need more threads than there are cores, else "".
std::string crowd_text(const PlannedStudy& plan, int together);

/// Returns why a study has too few seeds to decide its claims, or "" if it has enough. With n common seeds of two rows, the
/// exact test has a least p. Holm's correction multiplies this p by the number of claims of the family. The product must be at
/// most db::kLevel.
std::string too_few_seeds_text(const Study& study);

/// Resolves a study, makes all checks that need no run, prepares its data, and computes each trial's key. Needs a live
/// StopOnSignal. Throws ConfigError and Error with the cause, Interrupted if a signal asks to stop.
/// @param find returns the libraries, as scan_libraries does; called after the check of the history's file
/// @param executors starts an executor if a task must be queried
/// @param where_looked Catalog::where_looked
PlannedStudy plan_study(const LaunchRequest& request, const std::function<std::vector<FoundLibrary>()>& find,
                        const std::function<std::string(const std::string&)>& where_looked, Executors& executors,
                        const Note& note);

}  // namespace ablate
