// The leases of a MemoryStore, with the behaviour of Store in SQLite.
#include <algorithm>

#include "db/history/late_attempt.h"
#include "tests/host/simulated/store.h"

namespace ablate::simulated {
namespace {

constexpr double kHeard_s = 60;

}  // namespace

std::int64_t MemoryStore::add_owner(const std::function<bool(std::int64_t slot)>& take, const Meet& meet) {
  auto& known = history();
  auto slot = known.slots + 1;
  while (!take(slot)) ++slot;
  std::vector<std::int64_t> over;
  for (const auto& [other, owner] : known.owners) {
    const bool holds = std::any_of(known.leases.begin(), known.leases.end(),
                                   [&](const auto& one) { return one.second.slot == other && !one.second.outcome; });
    if (meet(owner, disk_.clock.now_s() - known.heard_s[other] < kHeard_s) && !holds) over.push_back(other);
  }
  for (const auto dead : over) known.owners.erase(dead), known.heard_s.erase(dead);
  known.slots = slot;
  known.owners[slot] = {.slot = slot, .host = "simulated", .process = process_, .space = "simulated"};
  known.heard_s[slot] = disk_.clock.now_s();
  return slot;
}

void MemoryStore::put_worker(std::int64_t slot, std::int64_t worker, std::int64_t started) {
  auto& owner = history().owners[slot];
  owner.worker = worker, owner.worker_started = started;
}

void MemoryStore::remove_owner(std::int64_t slot, const std::function<void()>& last) {
  auto& known = history();
  for (auto& [key, lease] : known.leases)
    if (lease.slot == slot && !lease.outcome) lease.outcome = "";
  known.owners.erase(slot);
  known.heard_s.erase(slot);
  if (known.owners.empty()) last();
}

db::LeaseAnswer MemoryStore::take_lease(const std::string& key, std::int64_t slot, std::int64_t since, bool again,
                                        const IsOver& is_over) {
  using What = db::LeaseAnswer::What;
  if (!again && !done({key}).empty()) return {What::kDone};
  auto& known = history();
  db::LeaseAnswer answer{What::kMine};
  if (const auto found = known.leases.find(key); found != known.leases.end()) {
    const auto& lease = found->second;
    const auto owner = known.owners.contains(lease.slot) ? known.owners.at(lease.slot) : db::LeaseOwner{.slot = lease.slot};
    if (!lease.outcome && !is_over(owner)) return {What::kElsewhere};
    const bool failed = lease.outcome && lease.slot != slot && lease.fence > since && !db::is_free_for_others(*lease.outcome);
    if (failed && !again) return {What::kFailed};
    if (!again && lease.slot != slot && lease.fence > since) answer.past = tries({key})[key];
  }
  answer.fence = ++known.fences;
  known.leases[key] = {answer.fence, slot, std::nullopt};
  return answer;
}

void MemoryStore::give_back(const std::string& key, std::int64_t fence) {
  auto& lease = history().leases[key];
  if (lease.fence == fence && !lease.outcome) lease.outcome = "";
}

bool MemoryStore::put_leased(const db::Attempt& attempt) {
  auto& lease = history().leases[attempt.key];
  if (lease.fence == attempt.fence && !lease.outcome) {
    put_attempt(attempt);
    lease.outcome = db::lease_end(attempt);
    return true;
  }
  put_attempt(late_attempt(attempt, lease.fence));
  return false;
}

db::Leases MemoryStore::leases() {
  auto& known = history();
  db::Leases now{.newest = known.fences, .held = {}};
  auto& held = now.held;
  for (const auto& [key, lease] : known.leases)
    if (!lease.outcome) held.push_back({key, lease.fence, known.owners[lease.slot]}), held.back().owner.slot = lease.slot;
  return now;
}

}  // namespace ablate::simulated
