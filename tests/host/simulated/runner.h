// Several schedulers on one history, each driven step by step. For tests of leases.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/host/scheduler/whole_grid.h"
#include "tests/host/simulated/grid.h"

namespace ablate::simulated {

/// Things that the schedulers share.
struct SharedPlace {
  explicit SharedPlace(int count) {
    for (int seed = 1; seed <= count; ++seed) trials.push_back(trial_of(seed));
    for (const auto& trial : trials) planned.push_back(planned_of(trial));
  }

  const std::string& key(int seed) const { return planned.at(static_cast<std::size_t>(seed) - 1).key; }
  const History& history() const { return disk.files.at(Grid::kFile); }
  std::vector<std::string> outcomes(int seed) const { return history().outcomes(key(seed)); }

  SimulatedClock clock;
  Disk disk{clock};
  Holders holders;
  std::vector<Trial> trials;
  std::vector<PlannedTrial> planned;
};

/// A scheduler with its own machine.
class Runner {
 public:
  Runner(SharedPlace& place, int process, RunOptions options = {.at_a_time = 2})
      : machine(place.clock), place_(place), store_(place.disk, Grid::kFile, process) {
    options.record = [&place](db::GridStore& into) { record(place.planned, into); };
    const Surroundings outside{.clock = place.clock,
                               .output = output_,
                               .stops = {.often = [this] { return stops; }, .who = [] { return std::string("a test"); }},
                               .process = process,
                               .locks = [&place, process](const auto& file) {
                                 return std::make_unique<SimulatedLocks>(place.holders, file, process);
                               }};
    run_ = std::make_unique<WholeGrid>(place.planned, executors_, store_, options, outside);
  }
  ~Runner() { close(file_); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Makes a step, unless the scheduler has ended. Returns true if another step follows.
  bool step() {
    if (!run_ || ended_) return false;
    ended_ = !run_->step();
    return !ended_;
  }
  void steps(double seconds) {
    for (const auto until = place_.clock.now_s() + seconds; place_.clock.now_s() < until && step();) {
    }
  }
  /// Ends the scheduler without a message or another step. Frees its locks and ends its worker.
  void is_killed() { run_.reset(), executors_.end(); }
  RunSummary summary() const { return run_->summary(); }
  std::string output() const { return read_text(folder_ / "told"); }

  Machine machine;
  int stops = 0;

 private:
  SharedPlace& place_;
  TemporaryFolder folder_;
  int file_ = open((folder_ / "told").c_str(), O_WRONLY | O_CREAT, 0600);
  Output output_{file_};
  Executors executors_ = machine.executors();
  MemoryStore store_;
  std::unique_ptr<WholeGrid> run_;
  bool ended_ = false;
};

inline std::size_t done_in(const History& history) {
  return static_cast<std::size_t>(std::count_if(history.attempts.begin(), history.attempts.end(),
                                                [](const auto& attempt) { return attempt.outcome == "done"; }));
}

/// Lets the schedulers make steps in turn until all have ended.
inline void go_on(const std::vector<Runner*>& all) {
  for (bool any = true; any;) {
    any = false;
    for (auto* one : all) any = one->step() || any;
  }
}

}  // namespace ablate::simulated
