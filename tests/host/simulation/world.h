// A simulated machine with a clock, a disk, faults and invariants. Its schedulers run one at a time, each for a step.
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

/// Parts that a planted fault replaces.
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

/// Result of a simulation.
struct Report {
  Broken broken;
  std::string last_events;  ///< one event on each line
  std::uint64_t digest = 0;
  int steps = 0, runs = 0;  ///< runs: number of schedulers
  double simulated_s = 0;
  std::array<int, kTroubles> troubles{};  ///< numbers of troubles by kind
  std::set<std::string> seen;             ///< events, as in Ledger::seen()
};

/// The seed decides all events. There is one thread. While a scheduler waits or calls the store, others may make whole steps.
/// On the stack, these steps are nested in the scheduler's step, so that schedulers also interrupt each other.
class World {
 public:
  explicit World(std::uint64_t seed, Faults faults = {});
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Makes faults at first, and later no faults. Starts runs until every trial is done or has failed by its own fault.
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
  /// Frees the locks of an ended process, as the kernel does.
  void frees_locks_of(int process) { holders_.dies(process); }
  /// Sets the behaviour of a scheduler's workers and trials.
  void script(simulated::Machine& machine, SimulatedScheduler& of);
  Room room();
  const Faults& faults() const { return faults_; }
  void add_output(int scheduler, const std::string& text);
  void ended(int scheduler, const RunSummary& summary);

 private:
  friend class Troubles;

  /// At some calls of a store or locks, makes trouble or another scheduler's step. Throws Killed if the caller is dead.
  void point();
  /// Called before each call of a store on its file. Throws the store's error if the call must fail.
  void call(const std::filesystem::path& file);
  /// Makes the running scheduler wait.
  void wait(double moment_s);
  /// If the scheduler is stopped, lets others make steps until it may continue. Throws Killed if it was killed.
  void go_on(SimulatedScheduler* own);
  simulated::Act act(int seed, bool beside_others);

  SimulatedScheduler* runs_now() const { return stack_.empty() ? nullptr : stack_.back(); }
  /// Makes a step of one scheduler, or trouble. Returns false if an invariant is broken or no scheduler can make a step.
  bool step();
  /// Lets all schedulers make steps until `enough` returns true, no scheduler lives, an invariant is broken, or
  /// `most_steps` are made.
  void step_until(const std::function<bool()>& enough, int most_steps);
  std::vector<SimulatedScheduler*> living() const;
  void start_scheduler();
  void start_some();
  void look();
  void quieten();
  /// Merges all files again, as a user does with a lost or damaged database while nothing runs.
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
  std::vector<SimulatedScheduler*> stack_;  ///< the last scheduler runs, the others wait for it
  std::map<int, int> runs_;                 ///< runs of trials that fail once, by seed
  Report report_;
  bool is_quiet_ = false, is_taken_ = false, is_damaged_ = false, has_lost_locks_ = false;
  double full_until_s_ = 0, locked_until_s_ = 0, temporary_full_until_s_ = 0, low_disk_until_s_ = 0, low_memory_until_s_ = 0;
};

inline Report simulate(std::uint64_t seed, const Faults& faults = {}) { return World(seed, faults).run(); }

}  // namespace ablate::simulation
