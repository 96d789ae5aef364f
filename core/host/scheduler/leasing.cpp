#include "core/host/scheduler/leasing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/util/processes.h"

namespace ablate {
namespace {

constexpr double kBetweenLooks_s = 1;

std::string name_of(const db::LeaseOwner& owner) { return fmt::format("process {} on {}", owner.process, owner.host); }

/// As far as its number tells from here.
bool is_seen_dead(const db::LeaseOwner& owner) {
  return !owner.space.empty() && owner.space == process_space() && start_of_process(owner.process) != owner.started;
}

}  // namespace

LeasesBefore leases_of(db::GridStore& store) {
  LeasesBefore before{.fence = store.newest_fence()};  // first: what is leased in between counts as held
  for (const auto& lease : store.held_leases()) before.held[lease.key] = lease.fence;
  return before;
}

Leasing::Leasing(Recorder& recorder, db::GridStore& store, const Surroundings& outside, bool again, Note note)
    : recorder_(recorder), store_(store), outside_(outside), again_(again), note_(std::move(note)) {}

void Leasing::begin() {
  locks_ = outside_.locks(store_.file());
  self_ = store_.add_owner(
      [this](std::int64_t slot) {
        if (!locks_->take(slot)) return false;
        doubt_ = locks_->doubt();
        return true;
      },
      [this](const db::LeaseOwner& other, bool heard) { return meet(other, heard); });
  if (!before_) before_ = leases_of(store_);
  if (!doubt_.empty())
    note_(fmt::format(
        "warning: {}: {}. This run found no other there, but nobody can promise that none comes: run one at a time, or have "
        "the history on a local disk (--db FILE, `ablate merge`)",
        store_.file().string(), doubt_));
}

bool Leasing::meet(const db::LeaseOwner& other, bool heard) {
  if (!doubt_.empty() && heard && !is_seen_dead(other))
    throw Error(
        fmt::format("{} is used by another run, {}, and {}: found two, expected one at a time there. Wait for it (a minute, "
                    "where it was killed), or run into a history on a local disk with --db FILE and bring both together with "
                    "`ablate merge`",
                    store_.file().string(), name_of(other), doubt_));
  return !locks_->is_held(other.slot);
}

void Leasing::works_with(std::int64_t worker) {
  worker_ = worker;
  tell_worker();
}

void Leasing::tell_worker() {
  if (worker_ == told_worker_ || recorder_.is_elsewhere()) return;
  if (recorder_.use([&](db::GridStore& store) { store.put_worker(self_.slot, worker_, start_of_process(worker_)); }))
    told_worker_ = worker_;
}

bool Leasing::holds(const std::string& key) const {
  return std::any_of(mine_.begin(), mine_.end(), [&](const auto& one) { return one.second->key == key; });
}

bool Leasing::is_over(const db::LeaseOwner& owner) {
  if (buried_.contains(owner.slot)) return true;
  if (!locks_->is_held(owner.slot)) to_bury_.emplace(owner.slot, owner);
  return false;
}

bool Leasing::bury() {
  const auto dead = std::exchange(to_bury_, {});
  for (const auto& [slot, owner] : dead) {
    // A copy of a history has leases of schedulers that live, on another lock file: their workers are theirs.
    const bool ended = is_seen_dead(owner) && end_process_tree(owner.worker, owner.worker_started);
    note_(fmt::format("{} has ended without a word; its trials are taken over{}", name_of(owner),
                      ended ? fmt::format(". Its worker, process {}, was left behind, and is ended", owner.worker) : ""));
    buried_.insert(slot);
  }
  return !dead.empty();
}

std::optional<db::LeaseAnswer> Leasing::take(const PlannedTrial& trial) {
  tell_worker();
  if (recorder_.is_elsewhere()) return std::nullopt;  // a rescued history has leases, too, which nobody else sees
  db::LeaseAnswer answer;
  const auto over = [&](const db::LeaseOwner& owner) { return owner.slot == self_.slot ? !holds(trial.key) : is_over(owner); };
  // What ran when this one came, or was leased later, has ended since.
  const auto held = before_->held.find(trial.key);
  const auto since = held == before_->held.end() ? before_->fence : held->second - 1;
  do {
    if (!recorder_.use([&](db::GridStore& store) { answer = store.take_lease(trial.key, self_.slot, since, again_, over); }))
      return std::nullopt;
  } while (bury());
  if (answer.what == db::LeaseAnswer::What::kMine) mine_[answer.fence] = &trial;
  if (answer.what == db::LeaseAnswer::What::kElsewhere) elsewhere_.push_back(&trial);
  return answer;
}

void Leasing::give_back(const PlannedTrial& trial, std::int64_t fence) {
  mine_.erase(fence);
  // Where it cannot be written it stays this scheduler's, which may take it again.
  recorder_.use([&](db::GridStore& store) { store.give_back(trial.key, fence); });
}

bool Leasing::ended(const db::Attempt& attempt, bool in_time, bool waits) {
  const auto found = mine_.extract(attempt.fence);
  if (in_time || found.empty()) return false;
  note_(fmt::format(
      "warning: the result of {} came late: another scheduler had taken the trial over, as if this one were dead (is {}-leases "
      "still the file that it was?). It is kept as an interrupted attempt, and the other's counts",
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
    for (const auto& lease : store.held_leases()) {
      const bool here = lease.owner.slot == self_.slot;
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
    store.remove_owner(self_.slot, [&] {
      if (is_here) locks_->remove();
    });
  });
  locks_.reset();
}

}  // namespace ablate
