// Runs the trials of a plan in separate processes and records how each ended. The only writer of trials' results. Torch-free.
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

/// News about a grid that --notify sends to absent users.
struct Notice {
  const char* event = "";  ///< "failure": the first failure; "rescue": the history was moved to another file; "end"
  int done = 0, failed = 0, skipped = 0, set_aside = 0;  ///< numbers of trials so far
  int elsewhere = 0, not_started = 0;                    ///< see RunSummary
  std::string reason;              ///< reason of the failure or the rescue, or why some trials did not end; else ""
  std::filesystem::path database;  ///< file with the results
};

/// Runs a shell command for each notice, with these environment variables: ABLATE_EVENT, ABLATE_EXPERIMENT, ABLATE_DONE,
/// ABLATE_FAILED, ABLATE_SKIPPED, ABLATE_SET_ASIDE, ABLATE_ELSEWHERE, ABLATE_NOT_STARTED, ABLATE_REASON, ABLATE_DATABASE. The
/// caller does not wait. The command runs in its own session, without input or output, for at most 30 s. For one thread only.
class Notifier {
 public:
  /// @param note called once, if a command could not be started or has failed
  Notifier(std::string command, std::string experiment, std::function<void(const std::string&)> note, int limit_s = 30)
      : command_(std::move(command)), experiment_(std::move(experiment)), note_(std::move(note)), limit_s_(limit_s) {}
  /// Waits a moment for the last commands, to report commands that fail at once.
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  void send(const Notice& notice);

 private:
  void look_at_earlier();

  std::string command_, experiment_;
  std::function<void(const std::string&)> note_;
  int limit_s_;
  bool has_complained_ = false;
  std::vector<pid_t> running_;
};

/// Number of failed trials after which no other trial starts.
struct MostFailures {
  int trials = 0;      ///< 0: use `percent`
  double percent = 0;  ///< percentage of the trials to run, if `trials` is 0; 0: any number
  int of(std::size_t all) const;
};

struct RunOptions {
  int at_a_time = 1;                 ///< trials at a time; fewer, with a warning, if descriptors or processes are short
  double timeout_s = 0;              ///< time limit of a trial; 0: none; stalled trials are ended in any case
  bool again = false;                ///< runs done trials and trials that would be set aside, too
  std::int64_t memory_bytes = 0;     ///< largest own memory of a trial; 0: any amount
  std::set<std::string> retry = {};  ///< outcomes to try again (core/host/scheduler/retries.h)
  MostFailures max_failures = {};
  bool pin = false;  ///< each trial runs on its own processors
  /// Receives notices for absent users. Must not wait. May be empty.
  std::function<void(const Notice&)> notify;
  bool keep_weights = false;  ///< stores the best weights in a file beside the history
  bool is_bench = false;      ///< true if trials run only to measure their cost; recorded with every attempt
  double checkpoint_s = 0;    ///< time between checkpoints of a running trial; 0: none
  /// Writes the study and its trials. Called once libraries and data are loaded, before the first trial starts. Called again
  /// for a new file if the database is damaged or gone. It must not throw Interrupted then, because results wait.
  std::function<void(db::GridStore&)> record;
  /// Called after each step of the run, several times a second, with the number of attempts written so far. Must neither wait
  /// for long nor throw. May be empty.
  std::function<void(std::int64_t written)> after_step;
  /// Removes cached answers about the data. Called if data cannot be loaded, or differ from the plan.
  std::function<void()> forget;
  VerdictMemory verdicts{""};  ///< stored verdicts on plugins; each attempt records the verdicts that are stored at its start
  double load_s = 3600;        ///< time limit to load a plugin or a data set into a worker; a greater timeout_s allows more
  double answer_s = 5;         ///< longest wait for a worker's answer if a trial is overdue; a silent worker is replaced
  double ping_s = 60;          ///< longest wait for an answer if no trial is overdue; also the silence before a ping
  double silence_s = 60;       ///< time between two lines about a long trial if the output is not a terminal
};

struct RunSummary {
  int done = 0, failed = 0, skipped = 0;    ///< failed: by counts_as_failed; skipped: done before this run
  int elsewhere = 0, failed_elsewhere = 0;  ///< trials that other schedulers ran meanwhile: done, and not done
  int not_started = 0;                      ///< trials not started, because too many had failed
  SetAside set_aside = {};
  std::map<const PlannedTrial*, std::string> reasons = {};  ///< by failed trial, a pointer into run_trials' plan
  std::vector<std::string> quarantines = {};                ///< lines about trials set aside because of repeated failures
  std::vector<std::string> failure_lines = {};              ///< lines about common causes of failures
  bool interrupted = false;  ///< a signal asked to stop; running trials were ended and recorded as interrupted

  ExitCode exit_code() const {
    if (interrupted) return ExitCode::kInterrupted;
    const auto missing = failed + failed_elsewhere + not_started + set_aside.total();
    return missing > 0 ? ExitCode::kTrialsFailed : ExitCode::kDone;
  }
};

/// Returns a notice about a grid with this summary so far.
Notice notice_of(const char* event, const RunSummary& summary, const std::string& reason,
                 const std::filesystem::path& database);

/// Runs the plan's trials, except trials that are done, or set aside because of earlier attempts. If a trial crashes, throws,
/// hangs or diverges, its reason, curves and end of output are recorded, and the grid continues. If the worker dies, its trials
/// return to the queue, and each runs alone until the cause is clear. While the database cannot be written, results wait, and
/// no other trial starts. Any number of schedulers may share a history. Each trial runs under one of them. A scheduler waits
/// for other schedulers' trials, and takes over the trials of a dead one. Throws Error if plugins or data cannot be loaded into
/// the first worker in time, or differ from the plan. If that happens in a later worker, the trials that need them fail
/// instead. Also throws Error if the database is gone: running trials then end normally, no other trial starts, and what()
/// names the file with the results.
/// @param executors starts an executor if there is none
RunSummary run_trials(const std::vector<PlannedTrial>& planned, Executors& executors, db::GridStore& store,
                      const RunOptions& options, const Surroundings& outside = {});

}  // namespace ablate
