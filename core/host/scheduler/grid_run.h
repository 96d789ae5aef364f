// One scheduler's run of a grid, step by step: whoever drives it may do other things between two steps, as a simulation of
// several schedulers does. Torch-free.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/host/scheduler/admission.h"
#include "core/host/scheduler/attempt_files.h"
#include "core/host/scheduler/attempt_in_progress.h"
#include "core/host/scheduler/checkpoints.h"
#include "core/host/scheduler/display.h"
#include "core/host/scheduler/leasing.h"
#include "core/host/scheduler/library_watch.h"
#include "core/host/scheduler/limits.h"
#include "core/host/scheduler/liveness.h"
#include "core/host/scheduler/recorder.h"
#include "core/host/scheduler/scheduler.h"
#include "core/host/scheduler/worker_load.h"

namespace ablate {

/// As run_trials of scheduler.h, which drives one to its end. One thread.
class GridRun {
 public:
  /// All that is passed outlives the run.
  /// @param waiting trials to run, in order; at least one
  GridRun(Executors& executors, db::GridStore& store, const RunOptions& options, const Surroundings& outside,
          std::deque<const PlannedTrial*> waiting);

  /// Loads what the trials need in the first step, then starts what may start and takes one event, and at last closes. Throws
  /// as run_trials does. @return whether another step is to come
  bool step();

  /// Before the first step: what was leased when the history was asked for earlier attempts.
  void remember(LeasesBefore leases) { leasing_.remember(std::move(leases)); }
  /// Likewise: earlier attempts at one of the trials; and whether it runs beside no other.
  void remember(const PlannedTrial& trial, const db::PastTries& past, bool alone);

  /// So far.
  const RunSummary& summary() const { return summary_; }
  /// Where everything went when the history was gone; else "".
  const std::filesystem::path& rescued() const { return recorder_.rescued(); }

 private:
  void begin();
  void advance();
  bool is_over() const;
  /// @return false where a result that had waited to be written came late: its trial is waited for
  bool end();
  void tell_rescue();

  bool is_stopping() const { return outside_.stops.any(); }
  /// Where asked to stop: whether nothing that runs is waited for any more.
  bool has_stopped() const;
  Executor& executor() { return *executors_.now(); }
  /// The scheduler's own time, which stands still while it is stopped or waits.
  void tick();
  void limit_jobs();
  void show_running();
  /// The worker ends a late trial itself, by its own clock. One that answers nothing, whatever its trials do, is stopped.
  void give_up_on_stopped_worker();

  bool may_start(const PlannedTrial& next);
  void start_some();
  void start(const PlannedTrial& planned, std::int64_t fence);
  /// What others have left or ended is asked for again; what they run is waited for.
  void look_elsewhere();
  /// An attempt under a lease is in the history.
  void written(const db::Attempt& attempt, bool in_time);
  void handle(const Event& event);
  /// There was no process or no descriptor for one more. @return whether it is tried again
  bool postpone(int job, const std::string& why);
  void finish(int job);
  void replace_worker(const std::string& why);
  /// What has ended already is not interrupted.
  void drain();
  /// Every running trial gets this outcome, and everything is written.
  void close(std::string_view outcome, const std::string& reason);
  /// What still waits, into the history or elsewhere. @param longest_s for the history
  void write_rest(double longest_s);

  Executors& executors_;
  RunOptions options_;
  Surroundings outside_;
  std::deque<const PlannedTrial*> waiting_;
  std::map<int, AttemptInProgress> running_;
  Admission admission_;
  Display display_;
  Liveness liveness_;
  WorkerLoad load_;
  Recorder recorder_;
  Leasing leasing_;
  AttemptFiles files_;
  Checkpoints checkpoints_;
  LibraryWatch watch_;
  Limits limits_;
  std::set<std::int64_t> again_;  ///< fences of attempts that ran out of memory beside others, and are not counted
  RunSummary summary_;
  bool begun_ = false, told_of_room_ = false, told_of_others_ = false;
  int last_job_ = 0;
  double clock_s_ = 0, last_tick_s_;
};

}  // namespace ablate
