// What a seed makes of a grid, and how much trouble there is in it.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "tests/host/simulation/dice.h"

namespace ablate::simulation {

/// What a trial does by itself.
enum class Nature { kGood, kFailsOnce, kFails, kCrashes, kSaysNothing, kHangs, kKillsWorker, kStopsWorker };

enum class Trouble {
  kKilledScheduler,
  kStoppedScheduler,  ///< it takes no step while time passes
  kNewScheduler,
  kInterrupt,  ///< by a user: the first signal, or another
  kKilledWorker,
  kStoppedWorker,  ///< it is silent for a while, and then tells everything late
  kKilledTrial,
  kFullDisk,
  kLockedDatabase,
  kTakenDatabase,  ///< its file is removed or replaced
  kDamagedDatabase,
  kLostLocks,  ///< as where the file of the locks is removed
  kSetClock,   ///< the time since 1970 jumps
  kDelay,      ///< the machine sleeps
};
constexpr int kTroubles = static_cast<int>(Trouble::kDelay) + 1;
const char* name_of(Trouble trouble);

struct Scenario {
  static constexpr int kMostTrials = 30;

  explicit Scenario(Dice& dice);

  std::vector<Nature> natures;  ///< of the trials 1, 2, ...
  int schedulers;               ///< at a time, at most
  double takes_s;               ///< a trial, about
  double timeout_s;             ///< 0: none
  bool again;                   ///< some schedulers run with --again
  int chaos_steps;              ///< then there is no more trouble
  std::array<double, kTroubles> weights{};
  double troubles;  ///< chance of one, in a step
  double at_calls;  ///< chance that others go on, or that there is trouble, in a call to store or locks
  double overlap;   ///< chance that others go on while one waits
  double locked;    ///< chance that a call finds the database locked
  double garbled, doubled, no_room, bad_load, no_worker;  ///< of a trial's or a worker's start

  int trials() const { return static_cast<int>(natures.size()); }
  Nature nature(int seed) const { return natures.at(static_cast<std::size_t>(seed) - 1); }
  Trouble draw(Dice& dice) const;
};

}  // namespace ablate::simulation
