// A study on its way to its trials: found right, named, and not begun.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/launch/dev_choice.h"
#include "core/host/scheduler/many_trials.h"
#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/scheduler.h"
#include "core/host/scheduler/task_memory.h"
#include "core/registry/scan.h"

namespace ablate {

/// Takes a line for the user, without its end.
using Note = std::function<void(const std::string& line)>;

struct LaunchRequest {
  std::filesystem::path study;         ///< the TOML file
  std::filesystem::path database;      ///< the history; need not be there
  std::vector<std::string> overrides;  ///< "train.steps=200", as load_study takes them
  std::vector<std::string> only;       ///< the first digits of keys; none: all trials
  int at_a_time = 0;                   ///< trials at a time; 0: auto, processors / train.threads
  bool again = false;                  ///< runs what is done already, too
  int prove = 0;  ///< trials to repeat at least for a proof that an edit of code changed no number; 0: none
  std::optional<double> timeout_s = {};  ///< in place of the study's, of a trial; 0: none
  std::int64_t memory_bytes = 0;         ///< as RunOptions has these
  std::set<std::string> retry = {};
  MostFailures max_failures = {};
  std::string notify = {};                            ///< a command line for a shell (core/host/scheduler/notice.h); "": none
  std::function<void(std::int64_t)> after_step = {};  ///< as RunOptions has it
  std::int64_t listed_us = 0;                         ///< db::Experiment::listed_us
  /// RunOptions::is_bench. Then other studies of this name belong to the same experiment, and no warning names them.
  bool is_bench = false;
};

/// Moved, but not copied: its trials are pointed at.
struct PlannedStudy {
  PlannedStudy(LaunchRequest request, Catalog with, Study resolved, const Note& note);
  PlannedStudy(PlannedStudy&&) = default;
  PlannedStudy(const PlannedStudy&) = delete;
  PlannedStudy& operator=(const PlannedStudy&) = delete;

  LaunchRequest asked;
  Catalog catalog;
  Study study;
  ManyTrials many;
  TaskMemory memory;                          ///< the user's
  std::vector<PlannedTrial> planned;          ///< every trial of the study, at all values that dev may choose
  std::vector<const PlannedTrial*> named;     ///< of these, those that --only names; without it all
  DevChoice choice;                           ///< as the history has it
  std::vector<const PlannedTrial*> wanted;    ///< of the named those of the grid, as far as dev has chosen
  std::vector<PluginInfo> used;               ///< by any trial
  int cores = 1, threads = 1, at_a_time = 1;  ///< that this process may use; at most of a wanted trial; trials at a time

  /// What will be wanted once dev has chosen, at first values in place of those (DevChoice::awaited); nothing beside --only.
  std::vector<const PlannedTrial*> awaited() const;
};

/// What is to be said where so many trials at a time ask for more threads than there are cores; else "".
std::string crowd_text(const PlannedStudy& plan, int together);

/// Resolves a study, checks everything that can be known before a trial runs, prepares its data, and names each trial. Throws
/// ConfigError and Error with what is wrong, Interrupted where a signal asks to stop (a StopOnSignal has to live).
/// @param find tells the libraries, as scan_libraries finds them; called once the history's file is known to be sound
/// @param executors of which one is started where a task has to be asked
/// @param where_looked Catalog::where_looked
PlannedStudy plan_study(const LaunchRequest& request, const std::function<std::vector<FoundLibrary>()>& find,
                        const std::function<std::string(const std::string&)>& where_looked, Executors& executors,
                        const Note& note);

}  // namespace ablate
