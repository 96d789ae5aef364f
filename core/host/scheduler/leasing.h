// Which trials this scheduler may start, of those that it shares with others on the same history.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/recorder.h"
#include "core/host/scheduler/surroundings.h"
#include "db/types/lease.h"

namespace ablate {

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

}  // namespace ablate
