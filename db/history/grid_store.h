// Interface to the history of a running grid. No SQLite.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/records/identity.h"
#include "db/history/artifacts.h"
#include "db/history/errors.h"
#include "db/types/lease.h"
#include "db/types/records.h"

namespace ablate::db {

/// History of a running grid. Store implements it with SQLite; tests implement it in memory. Every call throws Unavailable if
/// nothing can be written or read for the moment, and Gone if the history was removed or replaced. Not thread-safe.
class GridStore {
 public:
  virtual ~GridStore() = default;

  /// Returns the absolute path, which is also the history's name in messages.
  virtual const std::filesystem::path& file() const = 0;

  /// Sets how long a call waits for another process's lock before it throws Unavailable. The default is kUsualPatienceMs.
  virtual void set_patience(int milliseconds) = 0;

  /// Writes everything that this connection sees into a new history. If this history's file was removed or replaced, also
  /// removes its write-ahead log, which would damage the next file with the same name.
  /// Throws Error if `file` exists or cannot be written, or if this history's file is too damaged.
  virtual void rescue(const std::filesystem::path& file) = 0;

  /// Opens or creates another history of the same kind. Throws Error.
  virtual std::unique_ptr<GridStore> open(const std::filesystem::path& file) const = 0;

  /// Runs `writes`, which calls other members, as one transaction. If `writes` throws, nothing is written.
  virtual void together(const std::function<void()>& writes) = 0;

  /// Adds or updates an experiment by name, and returns its id. The new description, file and text replace the old ones. The
  /// experiment's grid counts as the latest, even if the clock went back, unless Experiment::listed_us is set.
  virtual std::int64_t put_experiment(const Experiment& experiment) = 0;

  /// Adds trials to an experiment in grid order, in one transaction. Idempotent.
  /// @param trials the new grid; the experiment also keeps the trials of its earlier grids
  virtual void put_trials(std::int64_t experiment, const std::vector<GridTrial>& trials) = 0;

  /// Replaces the papers' values for trials of an experiment. The trials must be known. A trial has one value per metric.
  virtual void put_published(std::int64_t experiment, const std::vector<PublishedValue>& values) = 0;

  /// Stores the parts of known trials' keys.
  virtual void put_parts(const std::vector<std::pair<std::string, Identity>>& parts) = 0;

  virtual void put_metrics(const std::vector<MetricInfo>& metrics) = 0;

  /// Stores verdicts. For each code, the latest verdict of the latest suite stays.
  virtual void put_verdicts(const std::vector<KnownVerdict>& verdicts) = 0;

  /// Returns the keys whose trials are done, in any experiment, by an attempt of their own or by a proof.
  virtual std::set<std::string> done(const std::vector<std::string>& keys) = 0;

  /// Returns the attempts of trials that are not done, by key. Keys without attempts are left out.
  virtual std::map<std::string, PastTries> tries(const std::vector<std::string>& keys) = 0;

  /// Stores the attempt with all its values in one transaction, and returns its number. Throws UnknownTrial.
  virtual std::int64_t put_attempt(const Attempt& attempt) = 0;

  /// Compares the done attempts at a trial that should have equal numbers.
  /// @return UnlikeAttempts::text of the first two attempts that differ (db/history/unlike_attempts.h); "" if there are none
  virtual std::string unlike_numbers(const std::string& /*key*/) { return ""; }

  /// Removes the oldest files of output until at most `most_bytes` remain. Records and counts the removed files.
  virtual KeptFiles limit_output(std::uintmax_t /*most_bytes*/) { return {}; }  // a store in memory has no files

  /// Removes checkpoints of done trials, then the oldest checkpoints until at most `most_bytes` remain. Records the removed
  /// files. Skips trials that this or another process runs. Counts only the files that were removed for the limit.
  /// @param running keys of this process
  virtual KeptFiles tidy_checkpoints(const std::set<std::string>& /*running*/, std::uintmax_t /*most_bytes*/) { return {}; }
  /// Removes all checkpoints of a trial.
  virtual void remove_checkpoints(const std::string& /*key*/) {}

  /// Replaces the list of trials that this process runs, which `ablate attempts` shows. Before a process ends, it passes an
  /// empty list. Also removes the lists of dead processes of this machine.
  virtual void put_running(const std::vector<RunningTrial>& trials) = 0;

  /// Called for each other scheduler that is registered in the history. `heard`: the other scheduler has called put_running
  /// within the last minute. May throw.
  /// @return true if the scheduler is dead; a dead scheduler without a lease is then removed from the history
  using Meet = std::function<bool(const LeaseOwner& other, bool heard)>;

  /// Registers this process as a scheduler, with a slot that is new in this history. Writes nothing if `meet` or `take` throws.
  /// @param take locks a slot (Locks::take); a slot that cannot be locked is skipped
  /// @return the scheduler's slot
  virtual std::int64_t add_owner(const std::function<bool(std::int64_t slot)>& take, const Meet& meet) = 0;
  /// Records the scheduler's new worker. `started` is start_of_process of the worker.
  virtual void put_worker(std::int64_t slot, std::int64_t worker, std::int64_t started) = 0;
  /// Removes a scheduler and frees its leases. Calls `last` if no scheduler is left, before another scheduler can register.
  virtual void remove_owner(std::int64_t slot, const std::function<void()>& last) = 0;

  /// Returns true if the holder of a lease is dead. Then the lease can be taken.
  using IsOver = std::function<bool(const LeaseOwner& owner)>;

  /// Leases a trial if it is not done and no scheduler runs it. Refuses a trial that has failed under another owner since fence
  /// `since`. If another owner has had the trial since then, the answer contains the trial's past attempts.
  /// @param again also leases a trial that is done or has failed
  virtual LeaseAnswer take_lease(const std::string& key, std::int64_t slot, std::int64_t since, bool again,
                                 const IsOver& is_over) = 0;
  /// Frees the lease of a trial that has not run.
  virtual void give_back(const std::string& key, std::int64_t fence) = 0;
  /// Stores an attempt under its fence, and ends the lease. If attempt.is_tried_again, any scheduler may take the trial. If
  /// another scheduler has taken the trial over, stores the attempt as late: interrupted and without results.
  /// @return true if the attempt was in time
  virtual bool put_leased(const Attempt& attempt) = 0;
  /// Returns all held leases, including leases of dead owners.
  virtual Leases leases() = 0;

 protected:
  GridStore() = default;
  GridStore(const GridStore&) = default;
  GridStore& operator=(const GridStore&) = default;
};

}  // namespace ablate::db
