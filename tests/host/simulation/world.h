// One simulated machine on which schedulers run, one at a time, each for a step: clock, disk, trouble, and what must hold.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/host/simulated/grid.h"
#include "tests/host/simulated/locks.h"
#include "tests/host/simulation/called_locks.h"
#include "tests/host/simulation/ledger.h"
#include "tests/host/simulation/scheduler.h"
#include "tests/host/simulation/serial_store.h"
#include "tests/host/simulation/trace.h"

namespace ablate::simulation {

/// What a planted fault replaces.
struct Faults {
  using MakeStore = std::function<std::unique_ptr<db::GridStore>(simulated::Disk& disk, int process)>;
  using MakeLocks =
      std::function<std::unique_ptr<Locks>(simulated::Holders& holders, const std::filesystem::path& history, int process)>;
  MakeStore store = [](simulated::Disk& disk, int process) {
    return std::make_unique<SerialStore>(disk, simulated::Grid::kFile, process);
  };
  MakeLocks locks = [](simulated::Holders& holders, const std::filesystem::path& history, int process) {
    return std::make_unique<simulated::SimulatedLocks>(holders, history, process);
  };
  std::function<void(RunOptions& options)> options = [](RunOptions&) {};
  std::function<void(Surroundings& outside)> outside = [](Surroundings&) {};
};

/// How a simulation went.
struct Report {
  Broken broken;
  std::string last_events;  ///< a line each
  std::uint64_t digest = 0;
  int steps = 0, runs = 0;  ///< of schedulers
  double simulated_s = 0;
  std::array<int, kTroubles> troubles{};  ///< how many there were
  std::set<std::string> seen;             ///< as Ledger::seen()
};

/// All of it follows from the seed. One thread. While one scheduler waits, or calls the store, others may take whole steps:
/// their steps lie within its own on the stack, so that the order is not only one of whole steps.
class World {
 public:
  explicit World(std::uint64_t seed, Faults faults = {});
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Trouble, then quiet, in which runs are started until everything is done or has failed by its own fault.
  Report run();

  // For schedulers.
  SimulatedClock& clock() { return clock_; }
  Trace& trace() { return trace_; }
  Ledger& ledger() { return ledger_; }
  const std::vector<PlannedTrial>& planned() const { return planned_; }
  std::unique_ptr<db::GridStore> open_store(int process) { return faults_.store(disk_, process); }
  std::unique_ptr<Locks> locks_of(const std::filesystem::path& history, int process) {
    return std::make_unique<CalledLocks>(faults_.locks(holders_, history, process), [this] { point(); });
  }
  /// As the kernel does.
  void frees_locks_of(int process) { holders_.dies(process); }
  /// How its workers and trials behave.
  void script(simulated::Machine& machine, SimulatedScheduler& of);
  Room room();
  const Faults& faults() const { return faults_; }
  void told(int scheduler, const std::string& text);
  void ended(int scheduler, const RunSummary& summary);

 private:
  friend class Troubles;

  /// A chance for the others, in whatever the one that runs calls. Throws Killed where it is dead.
  void point();
  /// Before a call on a file: whether it can be done. Throws what the store is to throw.
  void call(const std::filesystem::path& file);
  /// Whoever runs now waits.
  void wait(double moment_s);
  /// A stopped one goes on when it is continued. Throws Killed.
  void go_on(SimulatedScheduler* own);
  simulated::Act act(int seed, bool beside_others);

  SimulatedScheduler* runs_now() const { return stack_.empty() ? nullptr : stack_.back(); }
  /// @return whether there was anybody who could take a step
  bool step();
  /// Lets everybody step until `enough`, or nobody lives.
  void step_until(const std::function<bool()>& enough, int most_steps);
  std::vector<SimulatedScheduler*> living() const;
  void start_scheduler();
  void start_some();
  void look();
  void quieten();
  /// What a user does with a database that is gone or damaged, when nothing runs: brings all files together again.
  void repair();
  bool is_everything_done() const;

  Dice dice_;
  Scenario scenario_;
  Faults faults_;
  SimulatedClock clock_;
  simulated::Disk disk_{clock_};
  simulated::Holders holders_;
  Trace trace_{clock_};
  std::vector<PlannedTrial> planned_;
  Ledger ledger_;
  std::vector<std::unique_ptr<SimulatedScheduler>> schedulers_;
  std::vector<SimulatedScheduler*> stack_;  ///< the last one runs, the others wait for it
  std::map<int, int> runs_;                 ///< of trials that fail once, by seed
  Report report_;
  bool is_quiet_ = false, is_taken_ = false, is_damaged_ = false, has_lost_locks_ = false;
  double full_until_s_ = 0, locked_until_s_ = 0, temporary_full_until_s_ = 0, low_disk_until_s_ = 0, low_memory_until_s_ = 0;
};

/// The simulation of a seed.
inline Report simulate(std::uint64_t seed, const Faults& faults = {}) { return World(seed, faults).run(); }

}  // namespace ablate::simulation
