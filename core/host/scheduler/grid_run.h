// One scheduler's run of a grid, step by step: whoever drives it may do other things between two steps, as a simulation of
// several schedulers does. Torch-free.
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

/// Tells whether a worker still answers. Asks now and then, more often where the worker is late with something. Times are the
/// scheduler's own, in seconds.
class Liveness {
 public:
  /// @param patience_s for an answer, and between two requests, where it is late @param usual_s elsewhere
  Liveness(double patience_s, double usual_s) : patience_s_(patience_s), usual_s_(usual_s) {}

  enum class Next { kNothing, kAsk, kGiveUp };

  /// @param overdue whether the worker should have told something long ago. A worker that answers is waited for: a process
  /// that was killed may take its time to end.
  Next look(bool overdue, double now_s) {
    if (now_s - since_s_ < (overdue ? patience_s_ : usual_s_)) return Next::kNothing;
    const bool silent = asked_;
    asked_ = !silent, since_s_ = now_s;
    return silent ? Next::kGiveUp : Next::kAsk;
  }
  void answered(double now_s) { asked_ = false, since_s_ = now_s; }

 private:
  double patience_s_, usual_s_, since_s_ = 0;  ///< since the latest request or answer
  bool asked_ = false;
};

/// A trial is leased before it starts. The kernel says who else lives, not a clock: docs/decisions/leases.md. What a dead
/// scheduler has left running is ended before its trials are taken. One thread.
class Leasing {
 public:
  using Note = Recorder::Note;

  /// @param recorder writes into `store`; both outlive this @param again leases what is done, too @param seen leases as they
  /// were before it was asked what is to run: what has failed since then under another scheduler is not tried again
  Leasing(Recorder& recorder, db::GridStore& store, const Surroundings& outside, bool again, const db::Leases& seen, Note note);
  Leasing(const Leasing&) = delete;
  Leasing& operator=(const Leasing&) = delete;

  /// Before the first trial. Throws Error: it cannot be written; locks may mean nothing there, and another scheduler has been
  /// heard of.
  void begin();

  /// Holds its slot also where its file was removed. Looks once a second.
  void keep_slot();

  /// The process that runs the trials from now on; 0: none.
  void works_with(std::int64_t worker);

  /// Asks for a trial. One that runs elsewhere is waited for. @return nothing where the history cannot be asked now
  std::optional<db::LeaseAnswer> take(const PlannedTrial& trial);
  /// Whether a trial is not to run any more, since it is done. @return nothing where the history cannot be asked now
  std::optional<bool> is_done(const PlannedTrial& trial);
  /// Ends the lease of a trial that has not run.
  void give_back(const PlannedTrial& trial, std::int64_t fence);
  /// An attempt under a lease is in the history. @param in_time whether its fence still held; else another scheduler has taken
  /// the trial over @param waits whether to wait for that one's result @return whether it was taken over
  bool ended(const db::Attempt& attempt, bool in_time, bool waits);

  /// Trials that are waited for.
  const std::vector<const PlannedTrial*>& elsewhere() const { return elsewhere_; }
  /// Those that may be asked for again, in their order: their lease has ended, or its owner is dead. Looks once a second.
  std::vector<const PlannedTrial*> freed();

  /// Gives back all that this scheduler holds, and its slot.
  void end();

 private:
  /// Throws Error where locks may mean nothing and the other scheduler was heard of. @return whether that one is dead
  bool meet(const db::LeaseOwner& other, bool heard);
  void tell_worker();
  bool holds(const std::string& key) const;
  /// Whether a dead owner's trials may be taken: once it is buried, for which this notes it.
  bool is_over(const db::LeaseOwner& owner);
  /// Ends what dead schedulers have left running, as far as it is seen from here, and says once of each that its trials are
  /// taken over. @return whether there was one
  bool bury();

  Recorder& recorder_;
  db::GridStore& store_;
  Surroundings outside_;
  bool again_;
  Note note_;
  std::unique_ptr<Locks> locks_;
  std::string doubt_;  ///< of the locks
  std::int64_t slot_ = 0;
  std::int64_t newest_before_;                       ///< fence, when it was asked what is to run
  std::map<std::string, std::int64_t> held_before_;  ///< fences by key: of what ran elsewhere then
  std::int64_t worker_ = 0, told_worker_ = 0;
  /// By fence: leased trials whose attempts are not in the history. A trial may stand here twice: its first result waits to be
  /// written, and another scheduler took the trial over meanwhile and left it again.
  std::map<std::int64_t, const PlannedTrial*> mine_;
  std::vector<const PlannedTrial*> elsewhere_;
  std::map<std::int64_t, db::LeaseOwner> to_bury_;  ///< by slot
  std::set<std::int64_t> buried_;
  double next_look_s_ = 0, next_keep_s_ = 0;
};

class WorkerLoad {
 public:
  using Waiting = std::deque<const PlannedTrial*>;

  /// @param limit_s for each library and data set @param note takes a line for the user @param forget is called where data are
  /// refused (RunOptions::forget); may be empty @param waits is called about once a second meanwhile
  WorkerLoad(const Surroundings& outside, double limit_s, std::function<void(const std::string&)> note,
             std::function<void()> forget, std::function<void()> waits)
      : clock_(outside.clock),
        stops_(outside.stops),
        limit_s_(limit_s),
        note_(std::move(note)),
        forget_(std::move(forget)),
        waits_(std::move(waits)) {}

  /// So that a trial starts in milliseconds, and runs what was planned: a library or data that changed since then are refused.
  /// A worker that dies is replaced; what it died of three times in a row, or hangs in, is refused. Remembers the libraries'
  /// files in `watch`. Where asked to stop, gives the worker up and returns. The first call throws Error for what is refused:
  /// nothing has run yet. Later ones leave it out.
  void load(Executors& executors, const Waiting& waiting, LibraryWatch& watch);

  /// Why a trial cannot run: what it needs was left out. "" where it can.
  std::string refusal(const PlannedTrial& planned) const;

 private:
  /// A library, a data set, or CUDA.
  struct Item {
    std::string key, name;  ///< the name for people
    LoadCommand command = {};
    UsedPlugin library = {};  ///< its path is "" for another item
  };
  struct Refusal {
    std::string reason;
    ExitCode code = ExitCode::kPlugin;
    bool needs_another_worker = false;
  };

  static std::vector<Item> items(const Waiting& waiting);
  /// @return nothing where it is loaded, or where asked to stop. Throws WorkerEnded.
  std::optional<Refusal> load(Executor& executor, const Item& item) const;
  /// @return whether all could be tried in this worker
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

/// As run_trials of scheduler.h, which drives one to its end. One thread.
class GridRun {
 public:
  /// All that is passed outlives the run.
  /// @param waiting trials to run, in order; at least one @param seen leases, as they were before it was asked what is to run
  /// @param before what does not run, by what is known of earlier attempts
  GridRun(Executors& executors, db::GridStore& store, const RunOptions& options, const Surroundings& outside,
          std::deque<const PlannedTrial*> waiting, const db::Leases& seen, RunSummary before);

  /// The first step loads what the trials need; each one starts what may start and takes one event; the last one closes. Throws
  /// as run_trials does. @return whether another step is to come
  bool step();

  /// Before the first step: earlier attempts at one of the trials; and whether it runs beside no other.
  void remember(const PlannedTrial& trial, const db::PastTries& past, bool alone);

  /// So far.
  const RunSummary& summary() const { return summary_; }
  /// Where everything went when the history was gone; else "".
  const std::filesystem::path& rescued() const { return recorder_.rescued(); }

 private:
  void begin();
  void advance();
  bool is_over() const;
  /// @return false where a result came late that had waited to be written: the run waits for its trial
  bool end();
  void tell_rescue();

  bool is_stopping() const { return outside_.stops.any(); }
  /// Where asked to stop: whether no running trial is waited for any more.
  bool has_stopped() const;
  Executor& executor() { return *executors_.now(); }
  /// The scheduler's own time, which stands still while it is stopped or waits.
  void tick();
  void limit_jobs();
  void show_running();
  /// The worker ends a late trial itself, by its own clock. One that answers nothing, whatever its trials do, is stopped.
  void give_up_on_stopped_worker();

  bool may_start(const PlannedTrial& next);
  /// Trials that others had, who may have tried them. What lacked memory there runs alone here, too: behind all others, where
  /// nobody waits for it.
  void take_back(std::vector<const PlannedTrial*> freed);
  /// How attempts elsewhere ended. @return what comes of that
  Retry::What learn(const PlannedTrial& planned, const db::PastTries& past);
  /// Starts it, unless others have tried it meanwhile, and it has to wait for those that run, or is not tried again.
  void start_leased(const PlannedTrial& planned, const db::LeaseAnswer& lease);
  void start_some();
  /// The first one that waits came back into the queue and is barred meanwhile. @return false where the history cannot be asked
  bool leave_out(const PlannedTrial& planned);
  void start(const PlannedTrial& planned, std::int64_t fence);
  /// Asks again for trials that others have left or ended, and starts some; waits for those that others run.
  void look_elsewhere();
  /// An attempt under a lease is in the history.
  void written(const db::Attempt& attempt, bool in_time);
  void handle(const Event& event);
  /// There was no process or no descriptor for one more. @return whether it is tried again
  bool postpone(int job, const std::string& why);
  void finish(int job);
  /// Into the summary, where nobody runs it again here. @param is_written whether its attempt is in the history already
  void count(const PlannedTrial& planned, const db::Attempt& attempt, bool is_written);
  /// Its attempt came late.
  void count_no_more(const PlannedTrial& planned, const db::Attempt& attempt);
  /// It lacked memory beside others, and is still among those that run.
  void run_again_alone(const PlannedTrial& planned);
  /// It lacked memory by itself.
  void give_places_back(const PlannedTrial& planned);
  void replace_worker(const std::string& why);
  /// Takes the events that are there: a trial that has ended already is not interrupted.
  void drain();
  /// Every running trial gets this outcome, and everything is written.
  void close(std::string_view outcome, const std::string& reason);
  /// Writes what still waits: into the history or, after longest_s, elsewhere.
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
  /// The attempt that finish() writes, and what came of that.
  struct Ending {
    std::int64_t fence = 0;  ///< 0: none
    bool is_written = false, is_late = false;
  } ending_;
  std::map<std::int64_t, const PlannedTrial*> counted_;  ///< by fence: in the summary, and not in the history yet
  std::int64_t written_ = 0;                             ///< attempts
  bool begun_ = false, told_of_room_ = false, told_of_others_ = false;
  int last_job_ = 0;
  double clock_s_ = 0, last_tick_s_;
};

}  // namespace ablate
