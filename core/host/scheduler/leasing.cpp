#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/host/scheduler/grid_run.h"
#include "core/util/processes.h"

namespace ablate {
namespace {

constexpr double kBetweenLooks_s = 1;

std::string name_of(const db::LeaseOwner& owner) { return fmt::format("process {} on {}", owner.process, owner.host); }

/// True if the process is gone. False if that is not visible from this host.
bool is_seen_dead(const db::LeaseOwner& owner) {
  return !owner.space.empty() && owner.space == process_space() && start_of_process(owner.process) != owner.started;
}

}  // namespace

Leasing::Leasing(Recorder& recorder, db::GridStore& store, const Surroundings& outside, bool again, const db::Leases& seen,
                 Note note)
    : recorder_(recorder),
      store_(store),
      outside_(outside),
      again_(again),
      note_(std::move(note)),
      newest_before_(seen.newest) {
  for (const auto& lease : seen.held) held_before_[lease.key] = lease.fence;
}

void Leasing::begin() {
  locks_ = outside_.locks(store_.file());
  slot_ = store_.add_owner(
      [this](std::int64_t slot) {
        if (!locks_->take(slot)) return false;
        doubt_ = locks_->doubt();
        return true;
      },
      [this](const db::LeaseOwner& other, bool heard) { return meet(other, heard); });
  for (const auto& lease : store_.leases().held) is_over(lease.owner);
  bury();  // this also removes dead schedulers whose trials no scheduler wants any more
  if (!doubt_.empty())
    note_(fmt::format(
        "warning: {}: {}. No other run was found there, but another may start: start only one run at a time, or use a history "
        "on a local disk (--db FILE, `ablate merge`)",
        store_.file().string(), doubt_));
}

bool Leasing::meet(const db::LeaseOwner& other, bool heard) {
  if (!doubt_.empty() && heard && !is_seen_dead(other))
    throw Error(
        fmt::format("{} is used by another run, {}, and {}: found two runs, expected one at a time. Wait until that run has "
                    "ended (a minute, if it was killed), or run with a history on a local disk (--db FILE) and bring both "
                    "together with `ablate merge`",
                    store_.file().string(), name_of(other), doubt_));
  return !locks_->is_held(other.slot);
}

void Leasing::keep_slot() {
  if (recorder_.is_elsewhere() || outside_.clock.now_s() < next_keep_s_) return;
  next_keep_s_ = outside_.clock.now_s() + kBetweenLooks_s;
  locks_->keep_slot();
}

void Leasing::works_with(std::int64_t worker) {
  worker_ = worker;
  record_worker();
}

void Leasing::record_worker() {
  if (worker_ == recorded_worker_ || recorder_.is_elsewhere()) return;
  if (recorder_.use([&](db::GridStore& store) { store.put_worker(slot_, worker_, start_of_process(worker_)); }))
    recorded_worker_ = worker_;
}

bool Leasing::holds(const std::string& key) const {
  return std::any_of(mine_.begin(), mine_.end(), [&](const auto& one) { return one.second->key == key; });
}

bool Leasing::is_over(const db::LeaseOwner& owner) {
  if (owner.slot == slot_ || locks_->is_held(owner.slot)) return false;  // an owner that looked dead may hold its slot again
  if (buried_.contains(owner.slot)) return true;
  to_bury_.emplace(owner.slot, owner);
  return false;
}

bool Leasing::bury() {
  const auto dead = std::exchange(to_bury_, {});
  for (const auto& [slot, owner] : dead) {
    // A copy of a history also has leases of schedulers that run on the original. These schedulers seem to hold no lock here,
    // because their locks are in the original's lock file. Their workers must not be ended.
    const bool ended = is_seen_dead(owner) && end_process_tree(owner.worker, owner.worker_started);
    note_(fmt::format("{} has ended without notice; its trials are taken over{}", name_of(owner),
                      ended ? fmt::format(". Its worker, process {}, was left behind, and is ended", owner.worker) : ""));
    buried_.insert(slot);
    recorder_.use([&, gone = slot](db::GridStore& store) { store.remove_owner(gone, [] {}); });
  }
  return !dead.empty();
}

std::optional<db::LeaseAnswer> Leasing::take(const PlannedTrial& trial) {
  record_worker();
  if (recorder_.is_elsewhere()) return std::nullopt;  // only this scheduler uses a rescued history
  db::LeaseAnswer answer;
  const auto over = [&](const db::LeaseOwner& owner) { return owner.slot == slot_ ? !holds(trial.key) : is_over(owner); };
  // An ended attempt with a fence above `since` is new: the trial still ran when this scheduler started, or was leased later.
  const auto before = held_before_.find(trial.key);
  const auto since = before == held_before_.end() ? newest_before_ : before->second - 1;
  do {
    if (!recorder_.use([&](db::GridStore& store) { answer = store.take_lease(trial.key, slot_, since, again_, over); }))
      return std::nullopt;
  } while (bury());
  if (answer.what == db::LeaseAnswer::What::kMine) mine_[answer.fence] = &trial;
  if (answer.what == db::LeaseAnswer::What::kElsewhere) elsewhere_.push_back(&trial);
  return answer;
}

std::optional<bool> Leasing::is_done(const PlannedTrial& trial) {
  if (again_) return false;
  bool done = false;
  if (!recorder_.use([&](db::GridStore& store) { done = !store.done({trial.key}).empty(); })) return std::nullopt;
  return done;
}

void Leasing::give_back(const PlannedTrial& trial, std::int64_t fence) {
  mine_.erase(fence);
  // If the release cannot be written, this scheduler keeps the lease, and may take the trial again.
  recorder_.use([&](db::GridStore& store) { store.give_back(trial.key, fence); });
}

bool Leasing::ended(const db::Attempt& attempt, bool in_time, bool waits) {
  const auto found = mine_.extract(attempt.fence);
  if (in_time || found.empty()) return false;
  note_(fmt::format(
      "warning: the result of {} came late: another scheduler had taken the trial over, because this scheduler looked dead "
      "(was {}-leases removed or replaced?). It is stored as an interrupted attempt; the other scheduler's result counts",
      found.mapped()->trial->label, store_.file().string()));
  if (waits && !holds(attempt.key)) elsewhere_.push_back(found.mapped());
  return true;
}

std::vector<const PlannedTrial*> Leasing::freed() {
  if (elsewhere_.empty() || outside_.clock.now_s() < next_look_s_) return {};
  next_look_s_ = outside_.clock.now_s() + kBetweenLooks_s;
  std::set<std::string> held;
  const bool asked = recorder_.use([&](db::GridStore& store) {
    held.clear();
    for (const auto& lease : store.leases().held) {
      const bool here = lease.owner.slot == slot_;
      if (here ? holds(lease.key) : locks_->is_held(lease.owner.slot)) held.insert(lease.key);
    }
  });
  std::vector<const PlannedTrial*> free;
  if (!asked) return free;
  std::erase_if(elsewhere_, [&](const PlannedTrial* trial) {
    if (held.contains(trial->key)) return false;
    free.push_back(trial);
    return true;
  });
  return free;
}

void Leasing::end() {
  if (!locks_) return;
  const bool is_here = !recorder_.is_elsewhere();
  recorder_.use([&](db::GridStore& store) {
    store.remove_owner(slot_, [&] {
      if (is_here) locks_->remove();
    });
  });
  locks_.reset();
}

}  // namespace ablate
