// Planted faults in the parts that schedulers use: the simulation finds each, and names the broken invariant.
#include <algorithm>
#include <utility>

#include "core/records/outcome.h"
#include "tests/host/simulation/serial_store.h"
#include "tests/host/simulation/world.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::simulation;
using simulated::Disk;
using simulated::Grid;

namespace {

constexpr std::uint64_t kSeeds = 300;  ///< seeds that break nothing without a fault, as simulation_test.cpp shows

template <class Store>
Faults with_store() {
  Faults faults;
  faults.store = [](Disk& disk, int process) { return std::make_unique<Store>(disk, Grid::kFile, process); };
  return faults;
}

template <class Its>
Faults with_locks() {
  Faults faults;
  faults.locks = [](simulated::Holders& holders, const std::filesystem::path& history, int process) {
    return std::make_unique<Its>(holders, history, process);
  };
  return faults;
}

/// Writes a result and ends the trial's lease, even if another scheduler owns the lease.
struct NoFence : SerialStore {
  using SerialStore::SerialStore;
  bool put_leased(const db::Attempt& attempt) override {
    const Transaction open(*this);
    put_attempt(attempt);
    for (const auto& lease : leases().held)
      if (lease.key == attempt.key) give_back(lease.key, lease.fence);
    return true;
  }
};

/// Reports every third done result as written, but drops it.
struct DroppedResult : SerialStore {
  using SerialStore::SerialStore;
  bool put_leased(const db::Attempt& attempt) override {
    if (attempt.outcome == "done" && ++count_ % 3 == 0) return give_back(attempt.key, attempt.fence), true;
    return SerialStore::put_leased(attempt);
  }

 private:
  int count_ = 0;
};

/// Rescues the history into another file, but drops the results that wait.
struct ForgottenRescue : SerialStore {
  using SerialStore::SerialStore;
  std::unique_ptr<db::GridStore> open(const std::filesystem::path& file) const override {
    struct Forgets : SerialStore {
      using SerialStore::SerialStore;
      std::int64_t put_attempt(const db::Attempt&) override { return 1; }
      bool put_leased(const db::Attempt&) override { return true; }
    };
    return std::make_unique<Forgets>(disk_, file, process_);
  }
};

/// Leases a trial without checking if it is done.
struct DoneAgain : SerialStore {
  using SerialStore::SerialStore;
  db::LeaseAnswer take_lease(const std::string& key, std::int64_t slot, std::int64_t since, bool,
                             const IsOver& is_over) override {
    return SerialStore::take_lease(key, slot, since, true, is_over);
  }
};

/// Gives a trial the results of the previous trial.
struct MixedUp : SerialStore {
  using SerialStore::SerialStore;
  bool put_leased(const db::Attempt& attempt) override {
    auto own = attempt;
    if (attempt.outcome == "done" && !before_.empty()) own.results = before_;
    before_ = attempt.results;
    return SerialStore::put_leased(own);
  }

 private:
  std::map<std::string, double> before_;
};

/// Takes over a lease without checking its owner's lock.
struct UncheckedOwner : simulated::SimulatedLocks {
  using SimulatedLocks::SimulatedLocks;
  bool is_held(std::int64_t) override { return false; }
};

/// Locks a slot at the first check of any slot, instead of before the first lease.
struct LateLock : simulated::SimulatedLocks {
  using SimulatedLocks::SimulatedLocks;
  bool take(std::int64_t slot) override { return slot_ = slot, true; }
  bool is_held(std::int64_t slot) override {
    if (slot_ != 0) SimulatedLocks::take(std::exchange(slot_, 0));
    return SimulatedLocks::is_held(slot);
  }

 private:
  std::int64_t slot_ = 0;
};

/// Forgets the number of tries. Keeps only the last outcome, and the fact that memory ran out.
struct ForgottenTries : SerialStore {
  using SerialStore::SerialStore;
  std::map<std::string, db::PastTries> tries(const std::vector<std::string>& keys) override {
    auto found = SerialStore::tries(keys);
    for (auto& [key, past] : found) {
      const std::string latest = past.outcomes.back(), oom(outcome::kOom);
      const bool lacked_memory = std::find(past.outcomes.begin(), past.outcomes.end(), oom) != past.outcomes.end();
      past.outcomes = lacked_memory ? std::vector<std::string>{oom, latest} : std::vector<std::string>{latest};
    }
    return found;
  }
};

/// Returns attempts that ran out of memory with the outcome interrupted.
struct ForgottenMemory : SerialStore {
  using SerialStore::SerialStore;
  std::map<std::string, db::PastTries> tries(const std::vector<std::string>& keys) override {
    auto found = SerialStore::tries(keys);
    for (auto& [key, past] : found)
      std::replace(past.outcomes.begin(), past.outcomes.end(), std::string(outcome::kOom), std::string(outcome::kInterrupted));
    return found;
  }
};

/// Leases a trial, but leaves out the attempts that other schedulers have made at it in the meantime.
struct SilentLease : SerialStore {
  using SerialStore::SerialStore;
  db::LeaseAnswer take_lease(const std::string& key, std::int64_t slot, std::int64_t since, bool again,
                             const IsOver& is_over) override {
    auto answer = SerialStore::take_lease(key, slot, since, again, is_over);
    answer.past = {};
    return answer;
  }
};

/// Reports every result as late, even if it came in time.
struct CalledLate : SerialStore {
  using SerialStore::SerialStore;
  bool put_leased(const db::Attempt& attempt) override { return SerialStore::put_leased(attempt), false; }
};

/// Reports dead schedulers as alive.
struct Immortal : simulated::SimulatedLocks {
  using SimulatedLocks::SimulatedLocks;
  bool is_held(std::int64_t) override { return true; }
};

template <class Change>
Faults with_options(Change change) {
  Faults faults;
  faults.options = change;
  return faults;
}

/// Tries seeds from 1 on. Returns the first invariant that the fault breaks, or "" if it breaks none.
std::string found(const Faults& faults, std::uint64_t seeds = kSeeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    if (auto report = simulate(seed, faults); !report.broken.invariant.empty()) return report.broken.invariant;
  return "";
}

}  // namespace

TEST_CASE("a fence that is not compared is found", "[apart]") {
  const auto broken = found(with_store<NoFence>());
  CAPTURE(broken);
  // kDoneOnce breaks with --again, and kTries if a late attempt has failed. kEnds breaks if a rescue writes an attempt twice:
  // the attempt then counts as two tries.
  CHECK((broken == invariant::kOneResult || broken == invariant::kDoneOnce || broken == invariant::kTries ||
         broken == invariant::kEnds));
}

TEST_CASE("a lease that is taken without a check of its owner's lock is found", "[apart]") {
  CHECK(found(with_locks<UncheckedOwner>()) == invariant::kOneOwner);
}

TEST_CASE("a lock that is taken late is found", "[apart]") { CHECK(found(with_locks<LateLock>()) == invariant::kOneOwner); }

TEST_CASE("a result that is dropped is found", "[apart]") {
  CHECK(found(with_store<DroppedResult>()) == invariant::kNothingLost);
}

TEST_CASE("a rescue that forgets waiting results is found", "[apart]") {
  CHECK(found(with_store<ForgottenRescue>()) == invariant::kNothingLost);
}

TEST_CASE("a done trial that runs again is found", "[apart]") {
  const auto broken = found(with_store<DoneAgain>());
  CHECK((broken == invariant::kDoneOnce || broken == invariant::kTries));  // the second attempt may fail
}

TEST_CASE("a result of another trial is found", "[apart]") { CHECK(found(with_store<MixedUp>()) == invariant::kOwnResult); }

TEST_CASE("forgotten tries are found", "[apart]") { CHECK(found(with_store<ForgottenTries>()) == invariant::kTries); }

TEST_CASE("a forgotten lack of memory is found", "[apart]") {
  CHECK(found(with_store<ForgottenMemory>()) == invariant::kAlone);
}

TEST_CASE("a lease that hides earlier tries of other schedulers is found", "[apart]") {
  // The fault shows only if there are two schedulers, and a trial runs out of memory in one of them before the other
  // scheduler starts it.
  CHECK(found(with_store<SilentLease>(), 2000) == invariant::kAlone);
}

TEST_CASE("a result that is wrongly called late is found", "[apart]") {
  CHECK(found(with_store<CalledLate>()) == invariant::kSummary);
}

TEST_CASE("locks that outlive their holders are found", "[apart]") { CHECK(found(with_locks<Immortal>()) == invariant::kEnds); }

TEST_CASE("one trial more at a time than requested is found", "[apart]") {
  CHECK(found(with_options([](RunOptions& options) { ++options.at_a_time; })) == invariant::kJobs);
}

TEST_CASE("a missing limit of failures is found", "[apart]") {
  CHECK(found(with_options([](RunOptions& options) { options.max_failures = {}; })) == invariant::kMostFailures);
}

TEST_CASE("an ignored stop request is found", "[apart]") {
  Faults faults;
  faults.outside = [](Surroundings& outside) { outside.stops.often = [] { return 0; }; };
  CHECK(found(faults) == invariant::kStop);
}

TEST_CASE("an end without a notice is found", "[apart]") {
  CHECK(found(with_options([](RunOptions& options) {
          options.notify = [tell = options.notify](const Notice& notice) {
            if (std::string(notice.event) != "end") tell(notice);
          };
        })) == invariant::kNotices);
}
