// What a seed makes of a grid, and how much trouble there is in it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/host/simulation/dice.h"

namespace ablate::simulation {

/// What a trial does by itself.
enum class Nature {
  kGood,
  kFailsOnce,
  kFails,     ///< with one reason, as a broken plugin does
  kDiverges,  ///< for which no plugin is blamed
  kCrashes,
  kSaysNothing,
  kHangs,  ///< until its time limit; where there is none it takes no step any more
  kKillsWorker,
  kStopsWorker,
  kLacksMemory,
  kLacksMemoryBesideOthers  ///< and has enough of it alone
};

enum class Trouble {
  kKilledScheduler,
  kStoppedScheduler,  ///< it takes no step while time passes
  kNewScheduler,
  kInterrupt,  ///< by a user: the first signal, or another
  kMildStop,   ///< as SIGQUIT: what runs comes to its end
  kKilledWorker,
  kStoppedWorker,  ///< it is silent for a while, and then tells everything late
  kKilledTrial,
  kFullDisk,
  kLowDisk,    ///< too little is free for another trial to start
  kLowMemory,  ///< likewise
  kLockedDatabase,
  kTakenDatabase,  ///< its file is removed or replaced
  kDamagedDatabase,
  kLostLocks,  ///< as where the file of the locks is removed
  kSetClock,   ///< the time since 1970 jumps
  kDelay,      ///< the machine sleeps
};
constexpr int kTroubles = static_cast<int>(Trouble::kDelay) + 1;
const char* name_of(Trouble trouble);

/// What is not here: the files of checkpoints (that a trial is asked for one, and answers or not, is), and what a killed
/// scheduler leaves running: its worker ends with it. Both need processes and files: tests/end-to-end.
struct Scenario {
  static constexpr int kMostTrials = 30;

  explicit Scenario(Dice& dice);

  std::vector<Nature> natures;  ///< of the trials 1, 2, ...
  int schedulers;               ///< at a time, at most
  double takes_s;               ///< a trial, about
  double timeout_s;             ///< 0: none
  bool again;                   ///< some schedulers run with --again
  bool checkpoints;             ///< some schedulers have their trials written to disk when they are asked to stop
  double max_failures;          ///< chance that a scheduler has --max-failures
  std::int64_t memory_bytes;    ///< of each machine, as far as it can be had; below 0: not known
  bool tells_sizes;             ///< trials hold memory of their own
  int chaos_steps;              ///< then there is no more trouble
  std::array<double, kTroubles> weights{};
  double troubles;  ///< chance of one, in a step
  double at_calls;  ///< chance that others go on, or that there is trouble, before a call to store or locks
  double overlap;   ///< chance that others go on while one waits
  double locked;    ///< chance that a call finds the database locked
  double garbled, doubled, no_room, bad_load, no_worker;  ///< of a trial's or a worker's start

  int trials() const { return static_cast<int>(natures.size()); }
  /// Of the trial's attention: there are two.
  static const char* plugin(int seed) { return seed % 2 == 0 ? "even" : "odd"; }
  Nature nature(int seed) const { return natures.at(static_cast<std::size_t>(seed) - 1); }
  Trouble draw(Dice& dice) const;

 private:
  void hang_at_most(int count);
  /// All trials of one plugin fail. @param first of them
  void break_plugin(int first);
};

}  // namespace ablate::simulation
