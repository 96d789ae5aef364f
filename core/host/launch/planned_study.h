// A study on its way to its trials: found right, named, and not begun.
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

namespace ablate {

/// Values that dev has chosen so far for a study that tunes on seeds of its own ([grid.tune] seeds). Its trials are planned at
/// all values, and those that are reported belong to its grid at the chosen ones alone.
class DevChoice {
 public:
  /// Nothing is chosen, or the study tunes on no seeds of its own.
  DevChoice() = default;
  /// Asks the history. A cell's value is chosen once each of its trials that tune is done, or has ended so that a run sets it
  /// aside. @param database may be missing
  DevChoice(const Study& study, const std::vector<PlannedTrial>& planned, const std::filesystem::path& database);

  /// True for a trial that is reported at a value other than the chosen one: it is not in the grid, or not yet.
  bool leaves_out(const Trial& trial) const;
  /// Returns trials of cells whose value is not known yet, at their first values: as many as will be reported.
  std::vector<const PlannedTrial*> awaited(const std::vector<PlannedTrial>& planned) const;
  /// "dev has chosen in 2 of 3 settings; 1 waits for trials that tune"
  std::string text() const;

 private:
  bool is_apart_ = false;
  std::size_t cells_ = 0;
  /// By cell whose trials that tune have ended; nothing where no value has all of its trials done.
  std::map<std::int64_t, std::optional<std::int64_t>> chosen_;
};

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
  std::string notify = {};                            ///< shell command (Notifier of core/host/scheduler/scheduler.h); "": none
  std::function<void(std::int64_t)> after_step = {};  ///< as RunOptions has it
  std::int64_t listed_us = 0;                         ///< db::Experiment::listed_us
  /// RunOptions::is_bench. Then other studies of this name belong to the same experiment, and no warning names them.
  bool is_bench = false;
};

/// Moved, but not copied: its trials are pointed at.
struct PlannedStudy {
  PlannedStudy(LaunchRequest request, Catalog with, Study resolved);
  PlannedStudy(PlannedStudy&&) = default;
  PlannedStudy(const PlannedStudy&) = delete;
  PlannedStudy& operator=(const PlannedStudy&) = delete;

  LaunchRequest asked;
  Catalog catalog;
  Study study;
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
