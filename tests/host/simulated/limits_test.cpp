// Unattended grids in simulated time: stalls, retries and their limits, waits, and notices.
#include <algorithm>
#include <utility>

#include "core/util/error.h"
#include "tests/host/simulated/grid.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::simulated;
using End = Act::End;
using Outcomes = std::vector<std::string>;

namespace {

/// Returns a script in which these seeds have these acts. All other seeds answer after 10 s.
std::function<Act(std::uint64_t, int)> only(std::map<std::uint64_t, Act> acts) {
  return [acts = std::move(acts)](std::uint64_t seed, int) { return acts.contains(seed) ? acts.at(seed) : Act(); };
}

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

}  // namespace

TEST_CASE("a trial that takes no step for long is ended without a time limit, and the grid goes on") {
  Grid grid(4);
  grid.machine.act = only({{1, {End::kHangs, 20}}, {2, {End::kAnswers, 900}}});
  const auto summary = grid.run({.at_a_time = 1});
  CHECK(summary.done == 3);
  CHECK(summary.failed == 1);
  CHECK(grid.outcomes(1) == Outcomes{"stalled"});
  CHECK(says(grid.attempt(1).reason, "no step for 300 s"));
  CHECK(grid.attempt(1).step == 50);
  CHECK(grid.outcomes(2) == Outcomes{"done"});  // silent for 450 s twice, as a trial with slow steps may be
  CHECK(grid.clock.now_s() == Approx(1 + 10 + 300 + 900 + 20).margin(3));
}

TEST_CASE("failed trials run again only on request, and have three tries over all runs") {
  Grid grid(3);
  grid.machine.act = only({{1, {End::kCrashes, 3}}, {2, {End::kHangs, 3}}});
  RunOptions options{.at_a_time = 3, .timeout_s = 30};
  CHECK(grid.run(options).failed == 2);
  auto next = grid.run(options);
  CHECK(next.failed == 0);
  CHECK(next.set_aside.by_outcome == std::map<std::string, int>{{"failed", 1}, {"timeout", 1}});
  CHECK(next.set_aside.outcomes_text() == "1 failed, 1 timed out");
  options.retry = {"timeout"};
  for (int runs = 2; runs <= kMostTries; ++runs) {
    CHECK(grid.run(options).failed == 1);
    CHECK(grid.outcomes(2).size() == static_cast<std::size_t>(runs));
  }
  next = grid.run(options);
  CHECK(next.failed == 0);
  CHECK(next.set_aside.exhausted == 1);
  CHECK(grid.outcomes(1).size() == 1);
  options.again = true;
  CHECK(grid.run(options).failed == 2);
}

TEST_CASE("trials that were interrupted, lost, refused or not begun run again as often as needed") {
  Grid grid(3);
  for (int run = 0; run < 5; ++run) {
    const double begin_s = grid.clock.now_s();
    grid.stops.often = [&grid, begin_s] { return grid.clock.now_s() > begin_s + 5 ? 1 : 0; };
    CHECK(grid.run({.at_a_time = 3}).interrupted);
  }
  CHECK(grid.outcomes(1) == Outcomes(5, "interrupted"));
  grid.stops.often = [] { return 0; };
  CHECK(grid.run({.at_a_time = 3}).done == 3);
}

TEST_CASE("a trial that ran out of memory beside others runs once more, alone, and then only on request") {
  Grid grid(6);
  grid.machine.act = only({{2, {End::kLacksMemory, 5}}});
  const auto summary = grid.run({.at_a_time = 3});
  CHECK(summary.done == 5);
  CHECK(summary.failed == 1);
  CHECK(grid.outcomes(2) == Outcomes{"oom", "oom"});
  CHECK(grid.attempt(2).reason == "the host's memory did not suffice: std::bad_alloc");
  CHECK(grid.history().attempts.back().key == grid.key(2));  // alone, after all others
  CHECK(says(grid.output(), "ran out of memory beside 2 others"));
  CHECK(grid.run({.at_a_time = 3}).set_aside.by_outcome == std::map<std::string, int>{{"oom", 1}});

  Grid alone(1);
  alone.machine.act = only({{1, {End::kLacksMemory, 5}}});
  CHECK(alone.run({.at_a_time = 3}).failed == 1);
  CHECK(alone.outcomes(1).size() == 1);  // it ran alone: another try would fail, too
  CHECK(alone.run({.at_a_time = 3}).failed == 1);
  CHECK(alone.run({.at_a_time = 3}).set_aside.total() == 1);
}

TEST_CASE("if trials run out of memory even alone, as many trials run at a time as before") {
  Grid grid(12);
  std::size_t most_before = 0;
  grid.machine.act = [&](std::uint64_t seed, int run) {
    if (seed == 2 && run == 2) most_before = std::exchange(grid.machine.most_together, 0);
    return seed <= 2 ? Act{End::kLacksMemory, 5} : Act();
  };
  const auto summary = grid.run({.at_a_time = 4});
  CHECK(summary.done == 10);
  CHECK(summary.failed == 2);
  CHECK(grid.outcomes(1) == Outcomes{"oom", "oom"});
  CHECK(grid.outcomes(2) == Outcomes{"oom", "oom"});
  // Trial 2 ran early, because lack of memory had halved the number of trials at a time.
  CHECK(grid.history().attempts.back().key != grid.key(2));
  CHECK(most_before == 4);
  CHECK(grid.machine.most_together == 4);
  CHECK(says(grid.output(), "seed=2 also ran out of memory alone, so up to 4 trials run at a time again"));
}

TEST_CASE("if a trial that ran out of memory is done alone, fewer trials run at a time from then on") {
  Grid grid(12);
  grid.machine.act = [&](std::uint64_t seed, int run) {
    if (seed == 1 && run == 2) grid.machine.most_together = 0;
    return seed == 1 && run == 1 ? Act{End::kLacksMemory, 5} : Act();
  };
  CHECK(grid.run({.at_a_time = 2}).done == 12);
  CHECK(grid.outcomes(1) == Outcomes{"oom", "done"});
  CHECK(grid.machine.most_together == 1);
}

TEST_CASE("a trial over its own memory limit does not reduce the number of trials at a time, and is not retried in this run") {
  Grid grid(6);
  grid.machine.act = only({{2, {End::kLacksMemory, 5}}});
  const auto summary = grid.run({.at_a_time = 3, .memory_bytes = kGiB});
  CHECK(summary.done == 5);
  CHECK(summary.failed == 1);
  CHECK(grid.outcomes(2) == Outcomes{"oom"});
  CHECK_FALSE(says(grid.output(), "beside"));
  CHECK(grid.run({.at_a_time = 3, .memory_bytes = kGiB}).failed == 1);  // a new run tries it once more, as after any oom
  CHECK(grid.run({.at_a_time = 3, .memory_bytes = kGiB}).set_aside.by_outcome == std::map<std::string, int>{{"oom", 1}});
}

TEST_CASE("after the maximum of failures, no other trial starts, and running trials finish") {
  const auto [trials, percent, started] = GENERATE(table<int, double, int>({{2, 0, 4}, {0, 25, 6}, {0, 0, 12}}));
  Grid grid(12);
  grid.machine.act = [](std::uint64_t seed, int) { return seed % 2 == 1 ? Act{End::kFails, 9} : Act(); };
  const auto summary = grid.run({.at_a_time = 2, .max_failures = {.trials = trials, .percent = percent}});
  CHECK(summary.done == started / 2);
  CHECK(summary.failed == started / 2);
  CHECK(summary.not_started == 12 - started);
  CHECK(summary.exit_code() == ExitCode::kTrialsFailed);
  CHECK(says(grid.output(), "as many as --max-failures allows") == (started < 12));
}

TEST_CASE("a plugin that fails three times in the same way is not run further, and other trials go on") {
  Grid grid(12);
  for (int seed = 1; seed <= 12; ++seed) grid.uses(seed, seed <= 6 ? "broken" : "good");
  const std::string why = GENERATE("mat1 and mat2 cannot be multiplied (3x4)", "loss is nan at step 3");
  const bool once = GENERATE(false, true);  // true: one trial of the plugin is done in between
  grid.machine.act = [&](std::uint64_t seed, int) {
    Act act;
    if (seed <= 6 && !(once && seed == 2)) act = {.end = End::kFails, .takes_s = 5, .why = why + std::to_string(seed)};
    return act;
  };
  const auto summary = grid.run({.at_a_time = 1});
  const bool left_alone = !why.starts_with("loss");
  CHECK(summary.failed == (!left_alone ? once ? 5 : 6 : once ? 4 : 3));
  CHECK(summary.set_aside.quarantined == (!left_alone ? 0 : once ? 1 : 3));
  CHECK(summary.done == (once ? 7 : 6));
  CHECK(summary.quarantines.size() == (left_alone ? 1 : 0));
  if (left_alone) CHECK(says(grid.output(), "attention broken and task simulated failed 3 times in a row"));
  CHECK(summary.exit_code() == ExitCode::kTrialsFailed);
  if (!left_alone) return;
  const auto next = grid.run({.at_a_time = 1});
  CHECK(next.failed > 0);  // trials that had not started in the first run
  CHECK(summary.failure_lines.at(0) == std::to_string(summary.failed) + " failed: mat# and mat# cannot be multiplied (#x#)#");
}

TEST_CASE("trials that return to the queue after the maximum of failures do not start either") {
  const int trials = GENERATE(2, 3);  // with two trials, no trial waits when the limit is reached
  Grid grid(trials);
  grid.machine.act = only({{1, {End::kFails, 5}}, {2, {End::kKillsWorker, 20}}});
  const auto summary = grid.run({.at_a_time = 2, .max_failures = {.trials = 1}});
  CHECK(grid.outcomes(1) == Outcomes{"failed"});
  CHECK(grid.outcomes(2) == Outcomes{"lost"});
  CHECK(summary.failed == 1);
  CHECK(summary.not_started == trials - 1);
  CHECK(grid.machine.runs.size() == 2);
  const auto output = grid.output();
  CHECK(says(output, "1 trial failed, as many as --max-failures allows: the 1 waiting trial is not started"));
  CHECK(output.find("--max-failures") == output.rfind("--max-failures"));
}

TEST_CASE("requeued trials of a plugin that failed too often are set aside, unless another of its trials was done meanwhile") {
  const bool is_done = GENERATE(false, true);
  Grid grid(is_done ? 5 : 4);
  for (int seed = 1; seed <= 5 - !is_done; ++seed) grid.uses(seed, "broken");
  grid.machine.act = [](std::uint64_t seed, int run) {
    if (seed <= 3) return Act{.end = End::kFails, .takes_s = 5.0 + static_cast<double>(seed), .why = "broken"};
    if (seed == 4 && run == 1) return Act{End::kKillsWorker, 30};
    return Act();
  };
  const auto summary = grid.run({.at_a_time = 5});
  CHECK(summary.failed == 3);
  CHECK(grid.machine.runs[4] == (is_done ? 2 : 1));
  CHECK(summary.done == (is_done ? 2 : 0));
  CHECK(summary.set_aside.quarantined == (is_done ? 0 : 1));
  REQUIRE(summary.quarantines.size() == (is_done ? 0 : 1));
  if (!is_done) CHECK(says(summary.quarantines[0], "attention broken and task simulated failed 3 times in a row"));
  CHECK(says(grid.output(), "1 waiting trial with it is set aside") == !is_done);
}

TEST_CASE("while the disk has too little space, no trial starts, and afterwards trials go on") {
  Grid grid(4);
  grid.room.disk = [&](const std::filesystem::path& folder) {
    CHECK(folder == "/simulated");
    const bool is_low = grid.clock.now_s() > 5 && grid.clock.now_s() < 500;
    return std::optional(DiskSpace{is_low ? 499'000'000u : 501'000'000u, 100'000'000'000u});
  };
  CHECK(grid.run({.at_a_time = 1}).done == 4);
  CHECK(grid.clock.now_s() == Approx(500 + 30).margin(3));
  CHECK(says(grid.output(),
             "476 MiB free in /simulated, expected 477 MiB at least: no further trial starts until there is room"));
  CHECK(says(grid.output(), "there is room in /simulated again: trials go on"));
  CHECK(least_free_bytes({0, 1'000'000}) == 50'000);
}

TEST_CASE("trials start side by side if the memory of similar trials fits into the free memory") {
  Grid grid(8);
  std::vector<double> starts_s;
  grid.machine.act = [&](std::uint64_t, int) {
    starts_s.push_back(grid.clock.now_s());
    return Act{.end = End::kAnswers, .takes_s = 10, .bytes = 3 * kGiB};
  };
  std::int64_t in_all = 13 * kGiB;
  grid.room.memory_bytes = [&] {  // each trial uses its memory from the middle of its run on
    const auto hold = std::count_if(starts_s.begin(), starts_s.end(), [&](double start_s) {
      return grid.clock.now_s() >= start_s + 5 && grid.clock.now_s() < start_s + 10;
    });
    return in_all - hold * 3 * kGiB;
  };
  SECTION("the first trial runs alone until it reports its memory") {
    CHECK(grid.run({.at_a_time = 8}).done == 8);
    REQUIRE(starts_s.size() == 8);
    CHECK(starts_s[1] == Approx(1 + 5).margin(0.5));
    CHECK(grid.machine.most_together >= 3);
    CHECK(grid.machine.most_together <= 5);
  }
  SECTION("one trial runs at a time if the memory does not suffice for two") {
    in_all = 4 * kGiB;
    CHECK(grid.run({.at_a_time = 8}).done == 8);
    CHECK(grid.machine.most_together == 1);
  }
  SECTION("as many trials run as requested if the machine's memory is unknown") {
    grid.room = {};
    CHECK(grid.run({.at_a_time = 8}).done == 8);
    CHECK(grid.machine.most_together == 8);
  }
}

TEST_CASE("an absent user is notified of the first failure and of the end") {
  Grid grid(4);
  grid.machine.act = only({{1, {End::kCrashes, 3}}, {2, {End::kFails, 3}}});
  std::vector<Notice> notices;
  grid.run({.at_a_time = 1, .notify = [&](const Notice& notice) { notices.push_back(notice); }});
  REQUIRE(notices.size() == 2);
  CHECK(notices[0].event == std::string("failure"));
  CHECK(notices[0].reason == "failed: signal 11 (Segmentation fault)");
  CHECK(notices[0].failed == 1);
  CHECK(notices[0].database == Grid::kFile);
  CHECK(notices[1].event == std::string("end"));
  CHECK(notices[1].done == 2);
  CHECK(notices[1].failed == 2);
  CHECK(notices[1].reason == "");

  Grid stopped(4);
  stopped.machine.act = only({{1, {End::kFails, 3}}});
  notices.clear();
  stopped.run(
      {.at_a_time = 1, .max_failures = {.trials = 1}, .notify = [&](const Notice& notice) { notices.push_back(notice); }});
  REQUIRE(notices.size() == 2);
  CHECK(notices[1].not_started == 3);
  CHECK(notices[1].reason == "3 not started, because too many had failed");

  Grid lost(4);
  notices.clear();
  lost.disk.fails = [&](const std::filesystem::path& file) {
    if (file == Grid::kFile && lost.clock.now_s() > 15) throw db::Gone("the file was removed");
  };
  CHECK_THROWS_AS(lost.run({.at_a_time = 2, .notify = [&](const Notice& notice) { notices.push_back(notice); }}), Error);
  REQUIRE(notices.size() == 2);
  CHECK(notices[0].event == std::string("rescue"));
  CHECK(says(notices[0].database.string(), "/simulated/ablate.rescued-"));
  CHECK(notices[1].event == std::string("end"));
  CHECK(says(notices[1].reason, "the file was removed"));
}
