// The end of a grid, and the state that other processes see during the end.
#include <algorithm>

#include "tests/host/simulated/grid.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::simulated;
using End = Act::End;

TEST_CASE("trials end before their leases, and results are written before the wait for a worker's end") {
  Grid grid(2);
  grid.machine.act = [](std::uint64_t, int) { return Act{End::kAnswers, 1000}; };
  grid.stops.often = [&] { return grid.clock.now_s() < 15 ? 0 : 1; };
  bool runs_on = false, waits = false;
  grid.disk.fails = [&](const std::filesystem::path&) {
    if (grid.clock.now_s() < 15) return;
    runs_on = runs_on || grid.machine.given_up == 0;
    waits = waits || (grid.machine.now == nullptr && !grid.history().running.at(1).empty());
  };
  std::string latest;
  CHECK(grid.run({.at_a_time = 2, .notify = [&](const Notice& notice) { latest = notice.event + (": " + notice.reason); }})
            .interrupted);
  CHECK(latest == "end: interrupted");
  CHECK_FALSE(runs_on);
  CHECK_FALSE(waits);
}

TEST_CASE("a stop request with a full disk takes seconds") {
  Grid grid(2);
  grid.machine.act = [](std::uint64_t, int) { return Act{End::kAnswers, 1000}; };
  grid.disk.fails = [&](const std::filesystem::path& file) {
    if (file == Grid::kFile && grid.clock.now_s() > 5) throw db::Unavailable("the disk is full");
  };
  grid.stops.often = [&] { return grid.clock.now_s() < 100 ? 0 : 1; };
  CHECK(says(grid.error_of_run({.at_a_time = 2}), "rescued-"));
  CHECK(grid.clock.now_s() < 105);
}

TEST_CASE("if no worker can start and the disk stays full, the error says where the results are") {
  Grid grid(4);
  grid.machine.lives_s = [](int) { return 15.0; };
  grid.machine.starts = [](int executor) { return executor < 2; };
  grid.disk.fails = [&](const std::filesystem::path& file) {
    if (file == Grid::kFile && grid.clock.now_s() > 5) throw db::Unavailable("the disk is full");
  };
  const auto error = grid.error_of_run({.at_a_time = 2});
  INFO(error);
  CHECK(says(error, "is in /simulated/ablate.rescued-"));
}

TEST_CASE("a scheduler reports signs of life while its next worker loads") {
  Grid grid(2);
  grid.machine.load_s = 200;
  grid.machine.lives_s = [](int executor) { return executor == 1 ? 205.0 : kNever; };
  double last_s = 200, longest_s = 0;
  grid.disk.fails = [&](const std::filesystem::path&) {
    const double now_s = grid.clock.now_s();
    if (now_s >= 200) longest_s = std::max(longest_s, now_s - last_s), last_s = now_s;
  };
  CHECK(grid.run({.at_a_time = 2}).done == 2);
  CHECK(longest_s < 60);
}
