// A history as a running grid sees it: what is written, and what becomes of it where it cannot be. No SQLite.
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

/// Store is the one in SQLite; tests have one in memory. Every call throws Unavailable where nothing can be written or asked
/// for the moment, and Gone where the history is no longer the one that was opened. One thread.
class GridStore {
 public:
  virtual ~GridStore() = default;

  /// Absolute. Also the history's name for people.
  virtual const std::filesystem::path& file() const = 0;

  /// How long a call waits for another process's lock before it throws Unavailable; kUsualPatienceMs unless set.
  virtual void set_patience(int milliseconds) = 0;

  /// Writes everything that this connection sees into a new history, also where its own file was removed or replaced. Of a file
  /// that is gone no log stays behind, which would spoil the next one in its place.
  /// Throws Error where `file` exists or cannot be written, or where too little is left of the own one.
  virtual void rescue(const std::filesystem::path& file) = 0;

  /// Another history of the same kind: there already, or new. Throws Error.
  virtual std::unique_ptr<GridStore> open(const std::filesystem::path& file) const = 0;

  /// All that `writes` writes, by other calls, as one transaction: where it throws, nothing is written.
  virtual void together(const std::function<void()>& writes) = 0;

  /// Remembers an experiment by name (the latest description, file and text win). Its grid is the latest one, whatever clock
  /// earlier grids had, unless listed_us says when it was made. @return its id
  virtual std::int64_t put_experiment(const Experiment& experiment) = 0;

  /// Remembers a trial and that it belongs to an experiment, in grid order. Idempotent. All in one transaction.
  /// @param trials in order; an experiment's earlier trials that are not among them stay.
  virtual void put_trials(std::int64_t experiment, const std::vector<GridTrial>& trials) = 0;

  /// Remembers what papers report for trials of an experiment, in place of what was remembered for it before. The trials must
  /// be known; at most one value for a trial and a metric.
  virtual void put_published(std::int64_t experiment, const std::vector<PublishedValue>& values) = 0;

  /// Stores the parts of known trials' keys.
  virtual void put_parts(const std::vector<std::pair<std::string, Identity>>& parts) = 0;

  virtual void put_metrics(const std::vector<MetricInfo>& metrics) = 0;

  /// Of each code the latest verdict of the latest suite stays.
  virtual void put_verdicts(const std::vector<KnownVerdict>& verdicts) = 0;

  /// Those of the keys that have an attempt with outcome "done", in any experiment, also by a proof.
  virtual std::set<std::string> done(const std::vector<std::string>& keys) = 0;

  /// Of those keys that have attempts which are not done: how these ended. Keys that are done are left out.
  virtual std::map<std::string, PastTries> tries(const std::vector<std::string>& keys) = 0;

  /// One transaction: the attempt with all its values, or nothing. Throws UnknownTrial. @return the attempt's number
  virtual std::int64_t put_attempt(const Attempt& attempt) = 0;

  /// Compares the done attempts at a trial that should have equal numbers. @return UnlikeAttempts::text of the first two that
  /// differ (db/history/unlike_attempts.h); "" if there are none
  virtual std::string unlike_numbers(const std::string& /*key*/) { return ""; }

  /// Removes the oldest files of attempts' output until the rest has no more bytes, and remembers that. @return what is gone
  virtual KeptFiles limit_output(std::uintmax_t /*most_bytes*/) { return {}; }  // of a store in memory there are no files

  /// Removes checkpoints of trials that are done, and then the oldest until the rest has no more bytes; none of trials that
  /// run, here or as other processes say. Remembers that. @param running keys, of this process @return what went for the bytes
  virtual KeptFiles tidy_checkpoints(const std::set<std::string>& /*running*/, std::uintmax_t /*most_bytes*/) { return {}; }
  /// All of a trial.
  virtual void remove_checkpoints(const std::string& /*key*/) {}

  /// What this process is running now, in place of what it said before: for `ablate attempts`. At its end: put_running({}).
  /// Also forgets what processes of this machine that are dead were running.
  virtual void put_running(const std::vector<RunningTrial>& trials) = 0;

  /// Called with each other scheduler that this history knows, and whether it has said within a minute that it lives
  /// (put_running). It may throw. @return whether it is dead: then it is forgotten, unless it holds a lease
  using Meet = std::function<bool(const LeaseOwner& other, bool heard)>;

  /// This process, which is about to lease trials, as a scheduler with a slot that no other had. Where `meet` or `take` throws,
  /// nothing is written.
  /// @param take locks a slot (Locks::take); one that it does not get is left out @return its slot
  virtual std::int64_t add_owner(const std::function<bool(std::int64_t slot)>& take, const Meet& meet) = 0;
  /// It has another worker now. @param started start_of_process of it
  virtual void put_worker(std::int64_t slot, std::int64_t worker, std::int64_t started) = 0;
  /// It leases no more: what it holds is free. @param last called where no other is left, before anybody can come
  virtual void remove_owner(std::int64_t slot, const std::function<void()>& last) = 0;

  /// Whether the holder of a lease is dead, so that it may be taken.
  using IsOver = std::function<bool(const LeaseOwner& owner)>;

  /// Leases a trial, where it is not done and nobody runs it. A trial that has failed since fence `since` under another owner
  /// is not leased; of one that another has had since then the answer tells how its attempts ended.
  /// @param again leases it also where it is done or has failed
  virtual LeaseAnswer take_lease(const std::string& key, std::int64_t slot, std::int64_t since, bool again,
                                 const IsOver& is_over) = 0;
  /// The trial has not run: anybody may have it.
  virtual void give_back(const std::string& key, std::int64_t fence) = 0;
  /// put_attempt under the attempt's fence, whose lease ends with it. Where it is tried again, the trial is anybody's then.
  /// Where that is another's by now, the attempt is stored as a late one, interrupted and without its results. @return whether
  /// it was in time
  virtual bool put_leased(const Attempt& attempt) = 0;
  /// All that are held, also by owners that are dead.
  virtual Leases leases() = 0;

 protected:
  GridStore() = default;
  GridStore(const GridStore&) = default;
  GridStore& operator=(const GridStore&) = default;
};

}  // namespace ablate::db
