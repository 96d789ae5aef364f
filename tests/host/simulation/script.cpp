// Behaviour of the machines in a world: their workers, their trials, and their free resources.
#include "tests/host/simulation/world.h"

namespace ablate::simulation {

using simulated::Act;

void World::script(simulated::Machine& machine, SimulatedScheduler& of) {
  machine.load_s = 0.2 * scenario_.takes_s;
  machine.save_s = dice_.chance(0.7) ? 0.2 * scenario_.takes_s : simulated::kNever;
  machine.act = [this, &of](std::uint64_t seed, int) {
    of.starts(seed);
    return act(static_cast<int>(seed), !of.running().empty());
  };
  machine.load = [this](int) {
    using simulated::Load;
    static const std::vector<Load> kBad = {Load::kIsRefused, Load::kKillsWorker, Load::kHangs};
    return !is_quiet_ && dice_.chance(scenario_.bad_load) ? dice_.one_of(kBad) : Load::kLoads;
  };
  machine.starts = [this](int) { return is_quiet_ || !dice_.chance(scenario_.no_worker); };
}

Act World::act(int seed, bool beside_others) {
  using End = Act::End;
  constexpr End kEnds[] = {End::kAnswers,     End::kFails,       End::kFails,      End::kFails,
                           End::kCrashes,     End::kSaysNothing, End::kHangs,      End::kKillsWorker,
                           End::kStopsWorker, End::kLacksMemory, End::kLacksMemory};
  const auto nature = scenario_.nature(seed);
  Act act{.end = kEnds[static_cast<int>(nature)], .takes_s = scenario_.takes_s * dice_.between(0.2, 2)};
  if (nature != Nature::kDiverges) act.why = "index 7 is out of range";
  if (nature == Nature::kFailsOnce && ++runs_[seed] > 1) act.end = End::kAnswers;
  if (nature == Nature::kLacksMemoryBesideOthers && !beside_others) act.end = End::kAnswers;
  if (scenario_.tells_sizes) act.bytes = static_cast<std::int64_t>(dice_.of_any_size(1e8, 8e9));
  if (is_quiet_) return act;
  if (dice_.chance(scenario_.garbled)) act.way = Act::Way::kGarbled;
  if (dice_.chance(scenario_.doubled)) act.way = Act::Way::kDoubled;
  if (dice_.chance(scenario_.no_room)) act.end = End::kFindsNoRoom;
  return act;
}

Room World::room() {
  constexpr std::int64_t kLittle = 100'000'000;
  constexpr std::uintmax_t kDisk = 1'000'000'000'000;
  return {.memory_bytes =
              [this] {
                const bool is_low = scenario_.memory_bytes >= 0 && low_memory_until_s_ > clock_.now_s();
                return is_low ? kLittle : scenario_.memory_bytes;
              },
          .disk = [this](const std::filesystem::path&) -> std::optional<DiskSpace> {
            const auto free_bytes = low_disk_until_s_ > clock_.now_s() ? static_cast<std::uintmax_t>(kLittle) : kDisk / 2;
            return DiskSpace{free_bytes, kDisk};
          }};
}

}  // namespace ablate::simulation
