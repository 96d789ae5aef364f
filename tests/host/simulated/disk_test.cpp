// Whole grids in simulated time whose history cannot be written, for some time or permanently. Also grids with random faults.
#include <random>

#include "core/util/error.h"
#include "tests/host/simulated/grid.h"
#include "tests/support/catch.h"
#include "tests/support/soak.h"

using namespace ablate;
using namespace ablate::simulated;
using End = Act::End;
using Outcomes = std::vector<std::string>;

namespace {

/// Returns the rescued file beside the history.
const History& rescued(const Grid& grid) {
  for (const auto& [file, history] : grid.disk.files)
    if (file != Grid::kFile) return history;
  throw Error("no rescued file was found");
}

}  // namespace

TEST_CASE("while a disk is full, results wait, running trials go on, and everything is written later") {
  Grid grid(8);
  grid.disk.fails = [&](const std::filesystem::path&) {
    if (grid.clock.now_s() > 5 && grid.clock.now_s() < 200) throw db::Unavailable("the disk is full");
  };
  CHECK(grid.run({.at_a_time = 4}).done == 8);
  for (int seed = 1; seed <= 8; ++seed) CHECK(grid.outcomes(seed) == Outcomes{"done"});
  // A scheduler must not start a trial that it cannot record as running.
  for (int seed = 1; seed <= 8; ++seed)
    CHECK((grid.attempt(seed).started_us - SimulatedClock::kBegin_us > 200'000'000) == (seed > 4));
  CHECK(says(grid.output(), "the database can be written again, and everything is in it"));
  CHECK(grid.disk.files.size() == 1);
}

TEST_CASE("a disk that stays full sends everything into another file, ten minutes after the last trial") {
  Grid grid(4);
  grid.disk.fails = [&](const std::filesystem::path& file) {
    if (file == Grid::kFile && grid.clock.now_s() > 5) throw db::Unavailable("the disk is full");
  };
  const auto error = grid.error_of_run({.at_a_time = 4});
  CHECK(says(error, "Everything, with the results of this run, is in /simulated/ablate.rescued-"));
  CHECK(grid.history().attempts.empty());
  CHECK(rescued(grid).attempts.size() == 4);
  CHECK(grid.clock.now_s() == Approx(611).margin(20));
}

TEST_CASE("if the history is removed, running trials finish elsewhere, and no other trial starts") {
  Grid grid(8);
  grid.disk.fails = [&](const std::filesystem::path& file) {
    if (file == Grid::kFile && grid.clock.now_s() > 15) throw db::Gone("the file was removed");
  };
  CHECK(says(grid.error_of_run({.at_a_time = 2}), "the file was removed. Everything"));
  CHECK(rescued(grid).attempts.size() == 4);
  CHECK(rescued(grid).outcomes(grid.key(3)) == Outcomes{"done"});
  CHECK(rescued(grid).outcomes(grid.key(5)).empty());
}

TEST_CASE("for any seed of trial, worker and disk faults, each trial ends once, and nothing is lost") {
  const auto seed = GENERATE(range(1, rounds(100, 5000)));
  INFO("seed " << seed);
  std::mt19937_64 draw(static_cast<std::uint64_t>(seed));
  const auto chance = [&](double of) { return std::uniform_real_distribution<>(0, 1)(draw) < of; };
  const auto between = [&](double least, double most) { return std::uniform_real_distribution<>(least, most)(draw); };
  constexpr int kTrials = 15;
  Grid grid(kTrials);
  const std::vector<End> ends = {End::kFails,       End::kCrashes,     End::kSaysNothing, End::kHangs,
                                 End::kFindsNoRoom, End::kKillsWorker, End::kStopsWorker};
  grid.machine.act = [&](std::uint64_t, int) {
    const auto end =
        chance(0.3) ? ends[static_cast<std::size_t>(between(0, static_cast<double>(ends.size()) - 0.01))] : End::kAnswers;
    return Act{end, between(0, 40)};
  };
  grid.machine.lives_s = [&](int) { return chance(0.3) ? between(1, 100) : kNever; };
  grid.machine.load = [&](int executor) { return executor > 1 && chance(0.1) ? Load::kKillsWorker : Load::kLoads; };
  grid.disk.fails = [&](const std::filesystem::path&) {
    if (grid.clock.now_s() > 1 && chance(0.1)) throw db::Unavailable("locked");
  };
  const int jobs = static_cast<int>(between(1, 6));
  const auto summary = grid.run({.at_a_time = jobs, .timeout_s = 30});
  CHECK(summary.done + summary.failed == kTrials);
  CHECK(grid.machine.most_together <= static_cast<std::size_t>(jobs));
  int done = 0;
  for (int one = 1; one <= kTrials; ++one) {
    const auto outcomes = grid.outcomes(one);
    REQUIRE_FALSE(outcomes.empty());
    for (std::size_t i = 0; i + 1 < outcomes.size(); ++i) CHECK(outcomes[i] == "lost");
    CHECK(outcomes.back() != "lost");
    done += outcomes.back() == "done" ? 1 : 0;
    if (outcomes.back() == "done") CHECK(grid.attempt(one).results.at("test/accuracy") == one);
  }
  CHECK(summary.done == done);
}
