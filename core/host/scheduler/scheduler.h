// Runs the trials of a plan in processes of their own and writes how each ended. Torch-free; alone writes what trials gave.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/host/client/executors.h"
#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/retries.h"
#include "core/host/scheduler/surroundings.h"
#include "core/shared/verdict_memory.h"
#include "db/history/grid_store.h"

namespace ablate {

/// News of a grid that --notify sends to people who do not watch it.
struct Notice {
  const char* event = "";  ///< "failure": the first; "rescue": the history had to go elsewhere; "end"
  int done = 0, failed = 0, skipped = 0, set_aside = 0;  ///< trials, so far
  int elsewhere = 0, not_started = 0;                    ///< as RunSummary has them
  std::string reason;              ///< of the failure, of the rescue, or why not all trials came to their end; else ""
  std::filesystem::path database;  ///< where results are
};

/// Runs a shell's command line for each notice, which the environment tells: ABLATE_EVENT, ABLATE_EXPERIMENT, ABLATE_DONE,
/// ABLATE_FAILED, ABLATE_SKIPPED, ABLATE_SET_ASIDE, ABLATE_ELSEWHERE, ABLATE_NOT_STARTED, ABLATE_REASON, ABLATE_DATABASE.
/// Nobody waits for it: it has a session of its own, no input and no output, and is ended after 30 s. One thread.
class Notifier {
 public:
  /// @param note told once of a command that could not be started or has failed
  Notifier(std::string command, std::string experiment, std::function<void(const std::string&)> note, int limit_s = 30)
      : command_(std::move(command)), experiment_(std::move(experiment)), note_(std::move(note)), limit_s_(limit_s) {}
  /// Waits a moment for the last commands, so that one that fails at once is reported.
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  void tell(const Notice& notice);

 private:
  void look_at_earlier();

  std::string command_, experiment_;
  std::function<void(const std::string&)> note_;
  int limit_s_;
  bool has_complained_ = false;
  std::vector<pid_t> running_;
};

/// After how many failed trials no other starts.
struct MostFailures {
  int trials = 0;      ///< 0: any number
  double percent = 0;  ///< of those that are to run, where `trials` is 0
  int of(std::size_t all) const;
};

struct RunOptions {
  int at_a_time = 1;                 ///< trials at a time; fewer where descriptors or processes do not suffice, with a warning
  double timeout_s = 0;              ///< a trial that runs longer is ended; 0: none; one that stalls is ended without it
  bool again = false;                ///< also what is done already, and what is set aside otherwise
  std::int64_t memory_bytes = 0;     ///< of its own that a trial may hold; 0: any amount
  std::set<std::string> retry = {};  ///< outcomes: what ended so is tried again (core/host/scheduler/retries.h)
  MostFailures max_failures = {};
  bool pin = false;  ///< each trial runs on processors that no other trial has
  /// Takes what is told to those who do not watch; must not wait. May be empty.
  std::function<void(const Notice&)> notify;
  bool keep_weights = false;  ///< the best ones, in a file beside the history
  bool is_bench = false;      ///< recorded with every attempt: it ran for its cost, not for what it learns
  double checkpoint_s = 0;    ///< between checkpoints of a running trial; 0: none
  /// Writes the study and its trials: called when all that the trials need is loaded, before the first of them starts; and
  /// again for a new file where the database was damaged or taken away, when it must not throw Interrupted: results wait.
  std::function<void(db::GridStore&)> record;
  /// Called after each step of the run, some times a second, with how many attempts it has written so far; must neither wait
  /// for long nor throw. May be empty.
  std::function<void(std::int64_t written)> after_step;
  /// Forgets what was remembered of the data: called where they cannot be loaded, or are not what was planned.
  std::function<void()> forget;
  VerdictMemory verdicts{""};  ///< recorded with every attempt, as they are known when it starts
  double load_s = 3600;        ///< to load a plugin or a data set into the worker; a greater timeout_s allows more
  double answer_s = 5;         ///< for a worker to answer when a trial's time is long over; a worker that does not is replaced
  double ping_s = 60;          ///< the same while no trial is overdue; and after how long without a word it is asked
  double silence_s = 60;       ///< between two lines of a long trial where the output is no terminal
};

struct RunSummary {
  int done = 0, failed = 0, skipped = 0;    ///< failed: as counts_as_failed; skipped: their key was done before
  int elsewhere = 0, failed_elsewhere = 0;  ///< done, or ended otherwise for good, by other schedulers while this one ran
  int not_started = 0;                      ///< since too many had failed
  SetAside set_aside = {};
  std::map<const PlannedTrial*, std::string> reasons = {};  ///< of those that failed; of the plan that run_trials was given
  std::vector<std::string> quarantines = {};                ///< what was set aside for whose failures
  std::vector<std::string> failure_lines = {};              ///< what failures have in common
  bool interrupted = false;  ///< somebody asked to stop; running trials were ended and recorded so

  ExitCode exit_code() const {
    if (interrupted) return ExitCode::kInterrupted;
    const auto missing = failed + failed_elsewhere + not_started + set_aside.total();
    return missing > 0 ? ExitCode::kTrialsFailed : ExitCode::kDone;
  }
};

/// What is told of a grid with this sum so far.
Notice notice_of(const char* event, const RunSummary& summary, const std::string& reason,
                 const std::filesystem::path& database);

/// Runs those trials of the plan whose keys are not done and that their earlier attempts do not set aside, or all of them. A
/// trial that crashes, throws, hangs or diverges is recorded with its reason, its curves and the tail of its output, and the
/// grid goes on. Where the worker dies, its trials go back into the queue, each alone from then on, until it is clear whose
/// fault that is. While the database cannot be written, results wait, and no other trial starts. Any number of schedulers share
/// a history: each trial is run by one of them, those that others run are waited for, and those of a dead one are taken over.
/// Throws Error where the plugins or the data cannot be loaded into the first worker, or not in time, or are not what was
/// planned; where that is so of a later worker, the trials that need them fail. Throws Error, too, where the database was taken
/// away: what ran then has come to its end, nothing else was started, and what() says in which file everything is.
/// @param executors starts one where there is none
RunSummary run_trials(const std::vector<PlannedTrial>& planned, Executors& executors, db::GridStore& store,
                      const RunOptions& options, const Surroundings& outside = {});

}  // namespace ablate
