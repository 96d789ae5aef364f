// Which trials this scheduler may start, of those that it shares with others on the same history.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/recorder.h"
#include "core/host/scheduler/surroundings.h"
#include "db/types/lease.h"

namespace ablate {

/// What was leased, and had been, at some moment.
struct LeasesBefore {
  std::int64_t fence = 0;                    ///< the newest
  std::map<std::string, std::int64_t> held;  ///< fences by key
};
/// Now. Throws Error.
LeasesBefore leases_of(db::GridStore& store);

/// A trial is leased before it starts. Who else lives, the kernel says, not a clock: docs/decisions/leases.md. What a dead
/// scheduler has left running is ended before its trials are taken. One thread.
class Leasing {
 public:
  using Note = Recorder::Note;

  /// @param recorder writes into `store`; both outlive this @param again leases what is done, too
  Leasing(Recorder& recorder, db::GridStore& store, const Surroundings& outside, bool again, Note note);
  Leasing(const Leasing&) = delete;
  Leasing& operator=(const Leasing&) = delete;

  /// What has ended since then, nobody here knew of when trials were chosen. Without it: since begin().
  void remember(LeasesBefore before) { before_ = std::move(before); }

  /// Before the first trial. Throws Error: it cannot be written; locks may mean nothing there, and another scheduler has been
  /// heard of.
  void begin();

  /// The process that runs the trials from now on; 0: none.
  void works_with(std::int64_t worker);

  /// Asks for a trial. One that runs elsewhere is waited for. @return nothing where the history cannot be asked now
  std::optional<db::LeaseAnswer> take(const PlannedTrial& trial);
  /// A trial that has not run.
  void give_back(const PlannedTrial& trial, std::int64_t fence);
  /// Its attempt is in the history. @param in_time whether under its own fence: else another scheduler has taken it over
  /// @param waits for what the other one makes of it @return whether it was taken over
  bool ended(const db::Attempt& attempt, bool in_time, bool waits);

  /// How many trials are waited for.
  std::size_t elsewhere() const { return elsewhere_.size(); }
  /// Those that may be asked for again, in their order: their lease has ended, or its holder. Looks once a second.
  std::vector<const PlannedTrial*> freed();

  /// What is held is free for others.
  void end();

 private:
  /// Refuses to begin beside another scheduler where locks may mean nothing. @return whether it is dead
  bool meet(const db::LeaseOwner& other, bool heard);
  void tell_worker();
  bool holds(const std::string& key) const;
  /// A dead one comes among those that are to be buried, and is over once it is.
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
  db::NewOwner self_;
  std::optional<LeasesBefore> before_;
  std::int64_t worker_ = 0, told_worker_ = 0;
  /// By fence: leased, and no attempt is in the history. Of one trial there may be two: a result of the first waits to be
  /// written, and another scheduler that had taken the trial over has left it again.
  std::map<std::int64_t, const PlannedTrial*> mine_;
  std::vector<const PlannedTrial*> elsewhere_;
  std::map<std::int64_t, db::LeaseOwner> to_bury_;  ///< by slot
  std::set<std::int64_t> buried_;
  double next_look_s_ = 0;
};

}  // namespace ablate
