// Many schedulers, workers and a disk that everything befalls, driven by seeds: what must hold, holds after every step.
//   ABLATE_SEEDS="FIRST LAST" tests/test_simulation    tries those, and prints what happened in the first that fails
#include <cstdlib>
#include <sstream>

#include "tests/host/simulation/world.h"
#include "tests/support/catch.h"
#include "tests/support/soak.h"

using namespace ablate::simulation;

namespace {

constexpr int kParts = 4;  ///< of the seeds, in ctest: cores share them

struct Seeds {
  std::uint64_t first = 1, last;
  std::uint64_t step = 1;
};

/// Of the environment, else those of this part: ABLATE_TEST_OF is 1 to kParts.
Seeds seeds_to_try() {
  if (const char* given = std::getenv("ABLATE_SEEDS")) {
    Seeds seeds;
    std::istringstream(given) >> seeds.first >> seeds.last;
    return seeds;
  }
  const char* part = std::getenv("ABLATE_TEST_OF");
  const int of = part == nullptr ? 0 : std::atoi(part);
  const auto last = static_cast<std::uint64_t>(rounds(2000, 100'000));
  return of < 1 ? Seeds{1, last, 1} : Seeds{static_cast<std::uint64_t>(of), last, kParts};
}

std::string story(std::uint64_t seed, const Report& report) {
  return fmt::format("seed {} breaks \"{}\": {}\n{}To see it again: ABLATE_SEEDS=\"{} {}\" {}/tests/test_simulation", seed,
                     report.broken.invariant, report.broken.what, report.last_events, seed, seed, ABLATE_BUILD_DIR);
}

}  // namespace

TEST_CASE("whatever befalls schedulers, workers, trials and the disk, what must hold holds after every step") {
  const auto seeds = seeds_to_try();
  Report sum;
  for (auto seed = seeds.first; seed <= seeds.last; seed += seeds.step) {
    const auto report = simulate(seed);
    if (!report.broken.invariant.empty()) FAIL(story(seed, report));
    sum.steps += report.steps, sum.runs += report.runs, sum.simulated_s += report.simulated_s;
    for (int i = 0; i < kTroubles; ++i)
      sum.troubles[static_cast<std::size_t>(i)] += report.troubles[static_cast<std::size_t>(i)];
  }
  std::string text = fmt::format("{} steps of {} runs in {:.0f} s", sum.steps, sum.runs, sum.simulated_s);
  for (int i = 0; i < kTroubles; ++i)
    text += fmt::format("; {} {}", sum.troubles[static_cast<std::size_t>(i)], name_of(static_cast<Trouble>(i)));
  WARN(text);
}

TEST_CASE("a seed happens the same way each time", "[apart]") {
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto once = simulate(seed), again = simulate(seed);
    CHECK(once.digest == again.digest);
    CHECK(once.last_events == again.last_events);
    CHECK(digests.insert(once.digest).second);
  }
}
