#include "tests/host/simulation/scenario.h"

#include <numeric>

namespace ablate::simulation {
namespace {

constexpr int kMostSchedulers = 8;
constexpr int kMostStalls = 1;  ///< limit, because each stall costs thousands of steps

/// Returns 0 for some seeds, so that each simulation has only some kinds of trouble. Many kinds hide each other's effects.
double sometimes(Dice& dice, double chance, double least, double most) {
  return dice.chance(chance) ? dice.of_any_size(least, most) : 0;
}

Nature nature_of(Dice& dice, double own_faults) {
  if (!dice.chance(own_faults)) return Nature::kGood;
  static const std::vector<Nature> kNatures = {
      Nature::kFailsOnce, Nature::kFails,       Nature::kDiverges,    Nature::kCrashes,     Nature::kSaysNothing,
      Nature::kHangs,     Nature::kKillsWorker, Nature::kStopsWorker, Nature::kLacksMemory, Nature::kLacksMemoryBesideOthers};
  return dice.one_of(kNatures);
}

}  // namespace

const char* name_of(Trouble trouble) {
  constexpr const char* kNames[] = {
      "killed scheduler", "stopped scheduler", "new scheduler", "interrupt", "mild stop",  "killed worker",
      "stopped worker",   "killed trial",      "full disk",     "low disk",  "low memory", "locked database",
      "taken database",   "damaged database",  "lost locks",    "set clock", "delay"};
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
  for (int i = 0; i < trials; ++i) natures.push_back(nature_of(dice, own_faults));
  if (timeout_s == 0) hang_at_most(kMostStalls);
  if (dice.chance(0.1)) break_plugin(dice.whole(1, 2));
  chaos_steps = static_cast<int>(dice.of_any_size(50, 2000));
  for (auto& weight : weights) weight = sometimes(dice, 0.5, 0.1, 1);
  weights[static_cast<int>(Trouble::kNewScheduler)] += 0.2;
  for (const auto rare : {Trouble::kTakenDatabase, Trouble::kDamagedDatabase, Trouble::kLostLocks})
    weights[static_cast<int>(rare)] *= 0.2;
  troubles = dice.of_any_size(0.01, 0.3);
  checkpoints = dice.chance(0.3);
  max_failures = sometimes(dice, 0.2, 0.1, 1);
  memory_bytes = dice.chance(0.5) ? static_cast<std::int64_t>(dice.of_any_size(1e9, 64e9)) : -1;
  tells_sizes = dice.chance(0.3);
  at_calls = sometimes(dice, 0.8, 0.005, 0.3);
  overlap = dice.between(0, 0.9);
  locked = sometimes(dice, 0.3, 0.002, 0.2);
  garbled = sometimes(dice, 0.2, 0.01, 0.3);
  doubled = sometimes(dice, 0.3, 0.05, 1);
  no_room = sometimes(dice, 0.2, 0.01, 0.3);
  bad_load = sometimes(dice, 0.2, 0.05, 0.3);
  no_worker = sometimes(dice, 0.1, 0.02, 0.2);
}

void Scenario::hang_at_most(int count) {
  for (auto& nature : natures)
    if (nature == Nature::kHangs && --count < 0) nature = Nature::kFails;
}

void Scenario::break_plugin(int first) {
  for (int seed = first; seed <= trials(); seed += 2) natures[static_cast<std::size_t>(seed) - 1] = Nature::kFails;
}

Trouble Scenario::draw(Dice& dice) const {
  double at = dice.unit() * std::accumulate(weights.begin(), weights.end(), 0.0);
  int drawn = 0;
  while (drawn + 1 < kTroubles && at >= weights[static_cast<std::size_t>(drawn)])
    at -= weights[static_cast<std::size_t>(drawn++)];
  return static_cast<Trouble>(drawn);
}

}  // namespace ablate::simulation
