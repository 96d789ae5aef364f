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

#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/scheduler.h"
#include "core/host/scheduler/task_memory.h"
#include "core/registry/scan.h"
#include "db/questions/selection/chosen_values.h"

namespace ablate {

/// Values that dev has chosen so far, for a study in which some trials wait for the choice (Study::waits_for_dev). The study's
/// trials are planned at all values. Trials that wait belong to the grid only at the chosen values: longer trials, and, if
/// [grid.tune] has seeds, reported trials.
class DevChoice {
 public:
  /// Choice without chosen values, also for a study in which no trial waits.
  DevChoice() = default;
  /// Reads the history, if any. A cell's value is chosen when all its trials that compare values (Study::comparing_role) are
  /// done or would be set aside by a run.
  DevChoice(const Study& study, const std::vector<PlannedTrial>& planned, const std::filesystem::path& database);

  /// True if the trial is not (or not yet) in the grid: it waits for the choice and its value is not chosen, or `widen` of
  /// [grid.tune] has not added its value.
  bool leaves_out(const Trial& trial) const;
  /// Returns placeholders for the waiting trials that will run when dev has chosen. For each cell without a choice, these are
  /// the waiting trials at the cell's first value: a cell has equally many trials at each of its values.
  std::vector<const PlannedTrial*> awaited(const std::vector<PlannedTrial>& planned) const;
  /// Summary for the user: "dev has chosen in 2 of 3 settings; 1 waits for trials that tune".
  std::string text() const;

  /// Number of values that `widen` of [grid.tune] has added, over all cells. They may not have run yet.
  std::size_t added_values() const;

 private:
  /// Values that were added to a cell.
  struct Added {
    int below = 0, above = 0;
  };

  bool is_beyond(const Trial& trial) const;
  /// Adds a value to a cell if its best value is at an edge. Returns false if none is added.
  bool widen(const Study& study, const std::vector<PlannedTrial>& planned, std::int64_t cell, std::int64_t best,
             const std::vector<const Trial*>& trials);
  bool waits(const Trial& trial) const { return waits_for_dev_ && trial.cell && trial.role != comparing_; }

  bool waits_for_dev_ = false;
  Role comparing_ = Role::kReported;
  std::size_t cells_ = 0;
  /// Chosen values by cell, for cells whose comparing trials have ended. Nullopt if no value of the cell has all trials done.
  std::map<std::int64_t, db::ChosenValue> chosen_;
  std::map<std::int64_t, Added> added_;
  std::size_t edges_ = 0;  ///< choices at the smallest or the largest tried number
};

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
  std::int64_t memory_bytes = 0;         ///< this and the next two: as in RunOptions
  std::set<std::string> retry = {};
  MostFailures max_failures = {};
  std::string notify = {};                            ///< shell command (Notifier of core/host/scheduler/scheduler.h); "": none
  std::function<void(std::int64_t)> after_step = {};  ///< the same as in RunOptions
  std::int64_t listed_us = 0;                         ///< db::Experiment::listed_us
  /// RunOptions::is_bench. If true, other studies of this name belong to the same experiment, and no warning names them.
  bool is_bench = false;
};

/// Can be moved, but not copied, because pointers refer to its trials.
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

  /// Returns placeholders for the trials that will be wanted when dev has chosen: each cell's trials at the cell's first value
  /// (DevChoice::awaited). Empty with --only.
  std::vector<const PlannedTrial*> awaited() const;
};

/// Returns a warning if `together` trials at a time need more threads than there are cores, else "".
std::string crowd_text(const PlannedStudy& plan, int together);

/// Resolves a study, makes all checks that need no run, prepares its data, and computes each trial's key. Needs a live
/// StopOnSignal. Throws ConfigError and Error with the cause, Interrupted if a signal asks to stop.
/// @param find returns the libraries, as scan_libraries does; called after the check of the history's file
/// @param executors starts an executor if a task must be queried
/// @param where_looked Catalog::where_looked
PlannedStudy plan_study(const LaunchRequest& request, const std::function<std::vector<FoundLibrary>()>& find,
                        const std::function<std::string(const std::string&)>& where_looked, Executors& executors,
                        const Note& note);

}  // namespace ablate
