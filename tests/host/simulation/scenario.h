// The grid that a seed draws, and the amount of trouble in it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/host/simulation/dice.h"

namespace ablate::simulation {

/// Behaviour of a trial.
enum class Nature {
  kGood,
  kFailsOnce,
  kFails,     ///< always for the same reason, as a broken plugin does
  kDiverges,  ///< a failure that is not attributed to a plugin
  kCrashes,
  kSaysNothing,
  kHangs,  ///< until its time limit; without a limit it makes no further step
  kKillsWorker,
  kStopsWorker,
  kLacksMemory,
  kLacksMemoryBesideOthers  ///< has enough memory if it runs alone
};

enum class Trouble {
  kKilledScheduler,
  kStoppedScheduler,  ///< makes no step for a while
  kNewScheduler,
  kInterrupt,  ///< a user's first or later signal
  kMildStop,   ///< like SIGQUIT: running trials end normally
  kKilledWorker,
  kStoppedWorker,  ///< silent for a while, then reports everything late
  kKilledTrial,
  kFullDisk,
  kLowDisk,    ///< too little space for another trial to start
  kLowMemory,  ///< too little memory for another trial to start
  kLockedDatabase,
  kTakenDatabase,  ///< its file is removed or replaced
  kDamagedDatabase,
  kLostLocks,  ///< the lock file was removed
  kSetClock,   ///< the time since 1970 jumps
  kDelay,      ///< the machine sleeps
};
constexpr int kTroubles = static_cast<int>(Trouble::kDelay) + 1;
const char* name_of(Trouble trouble);

/// Requests for checkpoints and the answers are simulated; checkpoint files are not. The worker of a killed scheduler ends at
/// once. Checkpoint files, and workers that outlive a scheduler, need tests with real processes (tests/end-to-end).
struct Scenario {
  static constexpr int kMostTrials = 30;

  explicit Scenario(Dice& dice);

  std::vector<Nature> natures;  ///< behaviour of trials 1, 2, ...
  int schedulers;               ///< largest number at a time
  double takes_s;               ///< approximate time of a trial
  double timeout_s;             ///< 0: no limit
  bool again;                   ///< some schedulers run with --again
  bool checkpoints;             ///< some schedulers, when asked to stop, let their trials write checkpoints
  double max_failures;          ///< chance that a scheduler has --max-failures
  std::int64_t memory_bytes;    ///< available on each machine; below 0: unknown
  bool tells_sizes;             ///< trials report their own memory
  int chaos_steps;              ///< steps after which trouble ends
  std::array<double, kTroubles> weights{};
  double troubles;  ///< chance of trouble in a step
  double at_calls;  ///< chance of another scheduler's step, or of trouble, before a call of store or locks
  double overlap;   ///< chance of another scheduler's step during a wait
  double locked;    ///< chance that a call finds the database locked
  double garbled, doubled, no_room, bad_load, no_worker;  ///< chances at the start of a trial or a worker

  int trials() const { return static_cast<int>(natures.size()); }
  /// Returns the name of the trial's attention, which is one of two.
  static const char* plugin(int seed) { return seed % 2 == 0 ? "even" : "odd"; }
  Nature nature(int seed) const { return natures.at(static_cast<std::size_t>(seed) - 1); }
  Trouble draw(Dice& dice) const;

 private:
  void hang_at_most(int count);
  /// Lets all trials of one plugin fail. `first` is the seed of its first trial.
  void break_plugin(int first);
};

}  // namespace ablate::simulation
