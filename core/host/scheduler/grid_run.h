// One scheduler's run of a grid, step by step. The caller may do other work between two steps, as a simulation of several
// schedulers does. Torch-free.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/client/executors.h"
#include "core/host/scheduler/admission.h"
#include "core/host/scheduler/attempt_files.h"
#include "core/host/scheduler/attempt_in_progress.h"
#include "core/host/scheduler/display.h"
#include "core/host/scheduler/limits.h"
#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/recorder.h"
#include "core/host/scheduler/scheduler.h"
#include "core/host/scheduler/surroundings.h"
#include "core/shared/library_watch.h"
#include "core/util/error.h"
#include "db/types/lease.h"

namespace ablate {

/// Pings a worker regularly, and more often if a result is overdue. Times are the scheduler's own, in seconds.
class Liveness {
 public:
  /// @param patience_s longest silence before a ping, and longest wait for its answer, if a result is overdue
  /// @param usual_s both times if no result is overdue
  Liveness(double patience_s, double usual_s) : patience_s_(patience_s), usual_s_(usual_s) {}

  enum class Next { kNothing, kAsk, kGiveUp };

  /// @param overdue true if a message is long overdue. A worker that answers pings is kept: a killed job may end late.
  Next look(bool overdue, double now_s) {
    if (now_s - since_s_ < (overdue ? patience_s_ : usual_s_)) return Next::kNothing;
    const bool silent = asked_;
    asked_ = !silent, since_s_ = now_s;
    return silent ? Next::kGiveUp : Next::kAsk;
  }
  void answered(double now_s) { asked_ = false, since_s_ = now_s; }

 private:
  double patience_s_, usual_s_, since_s_ = 0;  ///< since_s_: time of the latest ping or answer
  bool asked_ = false;
};

/// Leases each trial before it starts. The kernel's locks, not a clock, show which schedulers live (docs/decisions/leases.md).
/// Processes of a dead scheduler are ended before its trials are taken over. For one thread only.
class Leasing {
 public:
  using Note = Recorder::Note;

  /// @param recorder writes into `store`; both must outlive this
  /// @param again leases done trials, too
  /// @param seen leases from before the plan's trials were checked: a trial that failed elsewhere since then is not tried again
  Leasing(Recorder& recorder, db::GridStore& store, const Surroundings& outside, bool again, const db::Leases& seen, Note note);
  Leasing(const Leasing&) = delete;
  Leasing& operator=(const Leasing&) = delete;

  /// Called before the first trial. Throws Error if the history cannot be written, or if locks may not work there and another
  /// scheduler was active.
  void begin();

  /// Keeps this scheduler's slot locked, even if the lock file was removed. Checks once a second.
  void keep_slot();

  /// Sets the process that runs the trials from now on; 0: none.
  void works_with(std::int64_t worker);

  /// Requests a lease. If the trial runs elsewhere, adds it to elsewhere(). Returns nullopt if the history is unavailable.
  std::optional<db::LeaseAnswer> take(const PlannedTrial& trial);
  /// Returns true if the trial is done and must not run, or nullopt if the history is unavailable.
  std::optional<bool> is_done(const PlannedTrial& trial);
  /// Ends the lease of a trial that has not run.
  void give_back(const PlannedTrial& trial, std::int64_t fence);
  /// Handles an attempt that was just written. `in_time` is false if another scheduler took the trial over. The trial is then
  /// added to elsewhere() if `waits` is true. Returns true if the trial was taken over.
  bool ended(const db::Attempt& attempt, bool in_time, bool waits);

  /// Trials that run elsewhere, and whose results are awaited.
  const std::vector<const PlannedTrial*>& elsewhere() const { return elsewhere_; }
  /// Returns the trials of elsewhere() that no live scheduler runs. They may be leased again. Checks once a second.
  std::vector<const PlannedTrial*> freed();

  /// Ends all leases of this scheduler, and frees its slot.
  void end();

 private:
  /// Returns true if the other scheduler is dead. Throws Error if locks may not work and the other scheduler was active.
  bool meet(const db::LeaseOwner& other, bool heard);
  void record_worker();
  bool holds(const std::string& key) const;
  /// True if the owner is dead and bury() has handled it: its trials may be taken. Stores a newly found dead owner for bury().
  bool is_over(const db::LeaseOwner& owner);
  /// Ends processes that dead schedulers left, if they are visible from here, and notes each takeover once.
  /// @return true if there was a dead scheduler
  bool bury();

  Recorder& recorder_;
  db::GridStore& store_;
  Surroundings outside_;
  bool again_;
  Note note_;
  std::unique_ptr<Locks> locks_;
  std::string doubt_;  ///< why locks may not work here; "" if they work
  std::int64_t slot_ = 0;
  std::int64_t newest_before_;                       ///< newest fence, read before the plan's trials were checked
  std::map<std::string, std::int64_t> held_before_;  ///< by key: fences of trials that ran elsewhere before the same check
  std::int64_t worker_ = 0, recorded_worker_ = 0;
  /// By fence: leased trials whose attempts are not in the history yet. A trial may appear twice: while its first result waits
  /// to be written, another scheduler may take the trial over and leave it again.
  std::map<std::int64_t, const PlannedTrial*> mine_;
  std::vector<const PlannedTrial*> elsewhere_;
  std::map<std::int64_t, db::LeaseOwner> to_bury_;  ///< by slot
  std::set<std::int64_t> buried_;
  double next_look_s_ = 0, next_keep_s_ = 0;
};

class WorkerLoad {
 public:
  using Waiting = std::deque<const PlannedTrial*>;

  /// @param limit_s time limit for each library and data set
  /// @param note receives a line for the user
  /// @param forget is called if data are refused (RunOptions::forget); may be empty
  /// @param waits is called about once a second during the load
  WorkerLoad(const Surroundings& outside, double limit_s, std::function<void(const std::string&)> note,
             std::function<void()> forget, std::function<void()> waits)
      : clock_(outside.clock),
        stops_(outside.stops),
        limit_s_(limit_s),
        note_(std::move(note)),
        forget_(std::move(forget)),
        waits_(std::move(waits)) {}

  /// Loads libraries and data, so that a trial starts in milliseconds and runs the planned version. Refuses files that have
  /// changed. Replaces a worker that dies. An item is refused if it hangs, or if three workers in a row die of it. Adds the
  /// libraries' files to `watch`. If a signal asks to stop, ends the worker and returns. The first call throws Error for a
  /// refused item, because no trial has run yet. Later calls record the refusal.
  void load(Executors& executors, const Waiting& waiting, LibraryWatch& watch);

  /// Returns why a trial cannot run: an item that it needs was refused. "" if it can run.
  std::string refusal(const PlannedTrial& planned) const;

 private:
  /// A library, a data set, or CUDA.
  struct Item {
    std::string key, name;  ///< name: for the user
    LoadCommand command = {};
    UsedPlugin library = {};  ///< its path is "" for other items
  };
  struct Refusal {
    std::string reason;
    ExitCode code = ExitCode::kPlugin;
    bool needs_another_worker = false;
  };

  static std::vector<Item> items(const Waiting& waiting);
  /// Returns nullopt if the item is loaded, or a signal asks to stop. Throws WorkerEnded.
  std::optional<Refusal> load(Executor& executor, const Item& item) const;
  /// Returns true if this worker could try all items.
  bool load_all(Executor& executor, const std::vector<Item>& all, LibraryWatch& watch);
  void refuse(const Item& item, const Refusal& why);

  const Clock& clock_;
  StopRequests stops_;
  double limit_s_;
  std::function<void(const std::string&)> note_;
  std::function<void()> forget_, waits_;
  std::map<std::string, std::string> refused_;  ///< reasons by key
  std::map<std::string, int> deaths_;           ///< by key
  bool is_first_ = true;
};

/// The loop behind run_trials of scheduler.h. For one thread only.
class GridRun {
 public:
  /// Every argument must outlive the run.
  /// @param waiting trials to run, in order, at least one
  /// @param seen leases from before the plan's trials were checked
  /// @param before summary of the trials that do not run, because of earlier attempts
  GridRun(Executors& executors, db::GridStore& store, const RunOptions& options, const Surroundings& outside,
          std::deque<const PlannedTrial*> waiting, const db::Leases& seen, RunSummary before);

  /// The first step loads libraries and data. Each step starts trials and handles one event. The last step closes the run.
  /// Returns true if another step follows. Throws the errors of run_trials.
  bool step();

  /// Called before the first step: sets the earlier attempts at a trial, and whether it must run alone.
  void remember(const PlannedTrial& trial, const db::PastTries& past, bool alone);

  /// Returns the summary so far.
  const RunSummary& summary() const { return summary_; }
  /// Path of the file with all results if the history was gone, else "".
  const std::filesystem::path& rescued() const { return recorder_.rescued(); }

 private:
  void begin();
  void advance();
  bool is_over() const;
  /// Returns false if a result came late when it was written: the run then waits for the trial, which runs elsewhere.
  bool end();
  void report_rescue();

  bool is_stopping() const { return outside_.stops.any(); }
  /// True if the grid was asked to stop and no longer waits for running trials.
  bool has_stopped() const;
  Executor& executor() { return *executors_.now(); }
  /// Advances the scheduler's own time, which pauses while the process is stopped or waits for a lock.
  void tick();
  void limit_jobs();
  void show_running();
  /// Stops a worker that answers no ping. A worker ends late trials itself, by its own clock.
  void give_up_on_stopped_worker();

  bool may_start(const PlannedTrial& next);
  /// Takes back trials that other schedulers released. A trial that ran out of memory there runs alone, last in the queue.
  void take_back(std::vector<const PlannedTrial*> freed);
  /// Reads how attempts elsewhere ended, and returns the decision that follows.
  Retry::What learn(const PlannedTrial& planned, const db::PastTries& past);
  /// Starts a leased trial. Ends its lease instead if other schedulers' attempts show that it must run alone or not at all.
  void start_leased(const PlannedTrial& planned, const db::LeaseAnswer& lease);
  void start_some();
  /// Removes the first waiting trial, because it is barred, or done elsewhere. Returns false if the history is unavailable.
  bool leave_out(const PlannedTrial& planned);
  void start(const PlannedTrial& planned, std::int64_t fence);
  /// Takes back trials that other schedulers released or ended, and starts some. Notes a wait for trials that run elsewhere.
  void look_elsewhere();
  /// Called when an attempt under a lease is in the history.
  void written(const db::Attempt& attempt, bool in_time);
  void handle(const Event& event);
  /// Handles a job that did not start, because there was no process or descriptor. Returns true if the trial is tried again.
  bool postpone(int job, const std::string& why);
  void finish(int job);
  /// Adds an attempt to the summary. Not called if the trial runs again here. `is_written`: the attempt is in the history.
  void count(const PlannedTrial& planned, const db::Attempt& attempt, bool is_written);
  /// Removes an attempt from the summary, because its result came late.
  void count_no_more(const PlannedTrial& planned, const db::Attempt& attempt);
  /// Handles a trial that ran out of memory beside others. It is still in running_.
  void run_again_alone(const PlannedTrial& planned);
  /// Handles a trial that ran out of memory alone.
  void give_places_back(const PlannedTrial& planned);
  void replace_worker(const std::string& why);
  /// Handles the events that have arrived, so that a trial that has already ended does not count as interrupted.
  void drain();
  /// Ends every running trial with this outcome, and writes everything.
  void close(std::string_view outcome, const std::string& reason);
  /// Writes all waiting results: into the history or, after longest_s, into another file.
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
  RunSummary summary_;
  /// Attempt that finish() is writing, and the result of the write.
  struct Ending {
    std::int64_t fence = 0;  ///< 0: none
    bool is_written = false, is_late = false;
  } ending_;
  std::map<std::int64_t, const PlannedTrial*> counted_;  ///< trials by fence: in the summary, not yet in the history
  std::int64_t written_ = 0;                             ///< number of written attempts
  bool begun_ = false, has_noted_room_ = false, has_noted_others_ = false;
  int last_job_ = 0;
  double clock_s_ = 0, last_tick_s_;
};

}  // namespace ablate
