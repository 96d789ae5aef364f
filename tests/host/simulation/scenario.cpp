#include "tests/host/simulation/scenario.h"

#include <numeric>

namespace ablate::simulation {
namespace {

constexpr int kMostSchedulers = 8;

/// Each kind of trouble is there in some seeds and not in others: many at once hide what one does.
double sometimes(Dice& dice, double chance, double least, double most) {
  return dice.chance(chance) ? dice.of_any_size(least, most) : 0;
}

Nature nature_of(Dice& dice, double own_faults, bool has_timeout) {
  if (!dice.chance(own_faults)) return Nature::kGood;
  static const std::vector<Nature> kEnds = {Nature::kFailsOnce,   Nature::kFails,       Nature::kCrashes, Nature::kSaysNothing,
                                            Nature::kKillsWorker, Nature::kStopsWorker, Nature::kHangs};
  const auto nature = dice.one_of(kEnds);
  return nature == Nature::kHangs && !has_timeout ? Nature::kFails : nature;  // else it would never end
}

}  // namespace

const char* name_of(Trouble trouble) {
  constexpr const char* kNames[] = {"killed scheduler", "stopped scheduler",
                                    "new scheduler",    "interrupt",
                                    "killed worker",    "stopped worker",
                                    "killed trial",     "full disk",
                                    "locked database",  "taken database",
                                    "damaged database", "lost locks",
                                    "set clock",        "delay"};
  static_assert(std::size(kNames) == kTroubles);
  return kNames[static_cast<int>(trouble)];
}

Scenario::Scenario(Dice& dice) {
  const int trials = static_cast<int>(dice.of_any_size(1, Scenario::kMostTrials + 0.99));
  schedulers = dice.chance(0.25) ? 1 : static_cast<int>(dice.of_any_size(2, kMostSchedulers + 0.99));
  takes_s = dice.of_any_size(0.05, 5);
  timeout_s = dice.chance(0.5) ? 4 * takes_s : 0;
  again = dice.chance(0.1);
  const double own_faults = dice.chance(0.5) ? dice.between(0, 0.4) : 0;
  for (int i = 0; i < trials; ++i) natures.push_back(nature_of(dice, own_faults, timeout_s > 0));
  chaos_steps = static_cast<int>(dice.of_any_size(50, 2000));
  for (auto& weight : weights) weight = sometimes(dice, 0.5, 0.1, 1);
  weights[static_cast<int>(Trouble::kNewScheduler)] += 0.2;
  for (const auto rare : {Trouble::kTakenDatabase, Trouble::kDamagedDatabase, Trouble::kLostLocks})
    weights[static_cast<int>(rare)] *= 0.2;
  troubles = dice.of_any_size(0.01, 0.3);
  at_calls = sometimes(dice, 0.8, 0.005, 0.3);
  overlap = dice.between(0, 0.9);
  locked = sometimes(dice, 0.3, 0.002, 0.2);
  garbled = sometimes(dice, 0.2, 0.01, 0.3);
  doubled = sometimes(dice, 0.3, 0.05, 1);
  no_room = sometimes(dice, 0.2, 0.01, 0.3);
  bad_load = sometimes(dice, 0.2, 0.05, 0.3);
  no_worker = sometimes(dice, 0.1, 0.02, 0.2);
}

Trouble Scenario::draw(Dice& dice) const {
  double at = dice.unit() * std::accumulate(weights.begin(), weights.end(), 0.0);
  int drawn = 0;
  while (drawn + 1 < kTroubles && at >= weights[static_cast<std::size_t>(drawn)])
    at -= weights[static_cast<std::size_t>(drawn++)];
  return static_cast<Trouble>(drawn);
}

}  // namespace ablate::simulation
