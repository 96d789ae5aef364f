// Whole grids in simulated time: trials with different ends, and workers that die, hang, and are replaced.
#include "tests/host/simulated/grid.h"

#include "core/util/error.h"
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

}  // namespace

TEST_CASE("trials run side by side, as many as requested, and each is done once") {
  Grid grid(12);
  const auto summary = grid.run({.at_a_time = 3});
  CHECK(summary.done == 12);
  CHECK(summary.exit_code() == ExitCode::kDone);
  CHECK(grid.machine.most_together == 3);
  // 1 s to load, then four rounds of 10 s.
  CHECK(grid.clock.now_s() == Approx(41));
  CHECK(grid.attempt(12).results.at("test/accuracy") == 12);
  CHECK(grid.attempt(12).started_us == SimulatedClock::kBegin_us + 31'000'000);
  CHECK(grid.attempt(12).wall_s == 10);
  CHECK(grid.attempt(12).environment.at("host") == "simulated");
  CHECK(grid.history().running.at(1).empty());
  const auto again = grid.run({.at_a_time = 3});
  CHECK(again.done == 0);
  CHECK(again.skipped == 12);
  CHECK(grid.machine.started == 1);
  CHECK(grid.clock.now_s() == Approx(41));
}

TEST_CASE("a trial that fails, crashes, sends nothing or is late affects only itself") {
  Grid grid(6);
  grid.machine.act = only({{1, {End::kFails, 3}}, {2, {End::kCrashes, 3}}, {3, {End::kSaysNothing, 3}}, {4, {End::kHangs}}});
  const auto summary = grid.run({.at_a_time = 2, .timeout_s = 30});
  CHECK(summary.done == 2);
  CHECK(summary.failed == 4);
  CHECK(summary.exit_code() == ExitCode::kTrialsFailed);
  CHECK(grid.attempt(1).reason == "loss is nan at step 50");
  CHECK(grid.attempt(2).reason == "signal 11 (Segmentation fault)");
  CHECK(grid.attempt(3).reason == "ended without a result");
  CHECK(grid.outcomes(4) == Outcomes{"timeout"});
  CHECK(grid.attempt(4).reason == "ran longer than the 30 s of its time limit");
  CHECK(grid.attempt(4).results.empty());
  CHECK(grid.machine.started == 1);
  const auto next = grid.run({.at_a_time = 2, .timeout_s = 30});  // failed trials are tried again only on request
  CHECK(next.skipped == 2);
  CHECK(next.set_aside.total() == 4);
  CHECK(next.exit_code() == ExitCode::kTrialsFailed);
  CHECK(grid.machine.started == 1);
}

TEST_CASE("other trials of a killed worker run again, until it is clear which trial killed it") {
  Grid grid(9);
  grid.machine.act = only({{2, {End::kKillsWorker, 5}}});
  const auto summary = grid.run({.at_a_time = 3});
  CHECK(summary.done == 8);
  CHECK(summary.failed == 1);
  CHECK(grid.outcomes(2) == Outcomes{"lost", "lost", "failed"});
  CHECK(grid.attempt(2).reason == "the worker ended (signal 6 (Aborted)), and with it every trial that it ran");
  CHECK(grid.attempt(2).wall_s == Approx(5));
  CHECK(grid.outcomes(1) == Outcomes{"lost", "done"});
  CHECK(grid.outcomes(3) == Outcomes{"lost", "done"});
  CHECK(grid.outcomes(4) == Outcomes{"done"});  // seed 2 never runs beside seed 4: trials of a dead worker run again alone
  CHECK(grid.machine.started == 4);
  CHECK(says(grid.output(), "3 of them are run again, alone"));
}

TEST_CASE("a worker that is killed from outside now and then does not end a grid") {
  Grid grid(20);
  grid.machine.lives_s = [](int executor) { return executor < 5 ? 25.0 : kNever; };
  CHECK(grid.run().done == 20);
  CHECK(grid.machine.started == 5);
}

TEST_CASE("a worker that sends nothing is queried, abandoned and replaced") {
  Grid grid(4);
  grid.machine.act = [](std::uint64_t seed, int run) {
    return seed == 1 && run == 1 ? Act{End::kStopsWorker, 5} : Act{End::kAnswers, 10};
  };
  SECTION("a silent worker is pinged after a minute and replaced a minute later") {
    CHECK(grid.run({.at_a_time = 2}).done == 4);
    // The last message comes at 3.5 s, the ping 60 s later, and the worker's end 60 s after the ping. Then 1 and 2 run alone.
    CHECK(grid.clock.now_s() == Approx(3.5 + 60 + 60 + 1 + 10 + 10 + 10).margin(1));
  }
  SECTION("a worker with a late trial is replaced much sooner") {
    CHECK(grid.run({.at_a_time = 2, .timeout_s = 20}).done == 4);
    CHECK(grid.clock.now_s() == Approx(1 + 20 + 5 + 5 + 1 + 10 + 10 + 10).margin(1));
  }
  CHECK(grid.machine.given_up == 1);
  CHECK(grid.machine.started == 2);
  CHECK(grid.outcomes(1) == Outcomes{"lost", "done"});
  CHECK(says(grid.attempt(1).reason + grid.history().attempts.front().reason, "because it did not answer"));
}

TEST_CASE("a trial without enough memory is retried beside fewer others, and finally alone") {
  Grid grid(6);
  grid.machine.act = [&](std::uint64_t seed, int) {
    const bool crowded = grid.machine.most_together > 2 && seed > 2 && grid.clock.now_s() < 5;
    return crowded ? Act{End::kFindsNoRoom} : Act{End::kAnswers, 10};
  };
  CHECK(grid.run({.at_a_time = 6}).done == 6);
  CHECK(grid.machine.runs.at(4) > 1);
  for (int seed = 1; seed <= 6; ++seed) CHECK(grid.outcomes(seed) == Outcomes{"done"});
  CHECK(says(grid.output(), "there was no room for another trial (Resource temporarily unavailable)"));

  Grid never(1);
  never.machine.act = only({{1, {End::kFindsNoRoom}}});
  CHECK(never.run().failed == 1);
  CHECK(never.attempt(1).reason == "Resource temporarily unavailable");
  CHECK(never.machine.runs.at(1) == 31);  // once a second
  CHECK(never.clock.now_s() == Approx(31).margin(8));
}

TEST_CASE("no more trials run at a time than a worker can hold") {
  Grid grid(8);
  grid.machine.most_jobs = 2;
  CHECK(grid.run({.at_a_time = 6}).done == 8);
  CHECK(grid.machine.most_together == 2);
  CHECK(says(grid.output(), "2 trials at a time instead of 6"));
}

TEST_CASE("if no other worker can start, trials that ran are recorded, and the grid ends with the reason") {
  Grid grid(4);
  grid.machine.lives_s = [](int) { return 15.0; };
  grid.machine.starts = [](int executor) { return executor < 2; };
  CHECK(grid.error_of_run({.at_a_time = 2}) == "no process for another worker");
  CHECK(grid.outcomes(1) == Outcomes{"done"});
  CHECK(grid.outcomes(3) == Outcomes{"lost"});
  CHECK(grid.history().running.at(1).empty());
}

TEST_CASE("a load failure in the first worker ends the grid before its first trial") {
  Grid grid(2);
  const auto [load, why, started] = GENERATE(table<Load, std::string, int>(
      {{Load::kIsRefused, "its data changed after the study was planned", 1},
       {Load::kKillsWorker, "the worker ended while it loaded the data of task simulated: signal 11 (Segmentation fault)", 3},
       {Load::kHangs, "the worker did not load the data of task simulated within 3600 s", 1}}));
  grid.machine.load = [load = load](int) { return load; };
  CHECK(says(grid.error_of_run({.at_a_time = 2}), why));
  CHECK(grid.machine.started == started);
  CHECK(grid.history().attempts.empty());
  if (load == Load::kHangs) CHECK(says(grid.output(), "loading the data of task simulated for 3541 s"));
}

TEST_CASE("a load failure in a later worker fails the trials that need the library or data") {
  Grid grid(4);
  grid.machine.lives_s = [](int executor) { return executor == 1 ? 15.0 : kNever; };
  grid.machine.load = [](int executor) { return executor == 1 ? Load::kLoads : Load::kKillsWorker; };
  const auto summary = grid.run({.at_a_time = 2});
  CHECK(summary.done == 2);
  CHECK(summary.failed == 2);
  CHECK(grid.outcomes(4).back() == "refused");
  CHECK(says(grid.attempt(4).reason, "could not load a part that this trial needs: the worker ended while it loaded the data"));
  CHECK(grid.machine.started == 5);  // the first worker, three that die while loading, and one without the data
}

TEST_CASE("a grid that is stopped keeps its finished trials, and the next run continues") {
  Grid grid(6);
  grid.stops.often = [&] { return grid.clock.now_s() > 15 && grid.clock.now_s() < 100 ? 1 : 0; };
  const auto summary = grid.run({.at_a_time = 2});
  CHECK(summary.interrupted);
  CHECK(summary.exit_code() == ExitCode::kInterrupted);
  CHECK(summary.done == 2);
  CHECK(grid.outcomes(3) == Outcomes{"interrupted"});
  CHECK(grid.attempt(3).reason == "interrupted by a test");
  CHECK(grid.attempt(3).step == 0);  // the stop request came before the middle of the trial
  CHECK(grid.history().outcomes(grid.key(5)).empty());
  grid.clock.wait(100);
  const auto next = grid.run({.at_a_time = 2});
  CHECK(next.done == 4);
  CHECK(next.skipped == 2);
}

TEST_CASE("the first stop request waits up to eight seconds until trials are on disk; the second does not wait") {
  const auto [save_s, second_s, ends_s, reason] = GENERATE(table<double, double, double, std::string>(
      {{0.5, kNever, 0.5, "interrupted by a test; the trial can resume after step 10"},
       {kNever, kNever, 8, "interrupted by a test"},
       {kNever, 2, 2, "interrupted by a test"}}));
  Grid grid(4);
  grid.machine.save_s = save_s;
  grid.machine.act = [](std::uint64_t, int) { return Act{End::kAnswers, 1000}; };
  grid.stops.often = [&, second_s = second_s] {
    const double since_s = grid.clock.now_s() - 100;
    return since_s < 0 ? 0 : since_s < second_s ? 1 : 2;
  };
  const auto summary = grid.run({.at_a_time = 2, .checkpoint_s = 600});
  CHECK(summary.exit_code() == ExitCode::kInterrupted);
  CHECK(grid.clock.now_s() == Approx(100 + ends_s).margin(0.5));
  CHECK(grid.attempt(1).reason == reason);
  CHECK(grid.attempt(2).outcome == "interrupted");
  CHECK(grid.history().outcomes(grid.key(3)).empty());
  CHECK(says(grid.output(), "2 running trials are written to disk, then ended; a second signal ends them at once"));
}

TEST_CASE("trials that end while others are written to disk are kept; without checkpoints no trial is awaited") {
  Grid grid(4);
  grid.machine.save_s = kNever;
  grid.machine.act = [](std::uint64_t seed, int) { return Act{End::kAnswers, seed == 1 ? 102.0 : 1000}; };
  grid.stops.often = [&] { return grid.clock.now_s() < 100 ? 0 : 1; };
  SECTION("with checkpoints") {
    CHECK(grid.run({.at_a_time = 2, .checkpoint_s = 600}).done == 1);
    CHECK(grid.outcomes(1) == Outcomes{"done"});
  }
  SECTION("without checkpoints") {
    CHECK(grid.run({.at_a_time = 2}).done == 0);
    CHECK(grid.clock.now_s() == Approx(100).margin(0.3));
  }
  CHECK(grid.outcomes(2) == Outcomes{"interrupted"});
}

TEST_CASE("SIGQUIT lets running trials finish and starts no other, whatever happens to the worker") {
  Grid grid(4);
  grid.machine.act = [](std::uint64_t, int) { return Act{End::kAnswers, 1000}; };
  grid.stops.often = [&] { return grid.clock.now_s() < 100 ? 0 : 1; };
  grid.stops.first_is_mild = [] { return true; };
  SECTION("the trials end") {
    const auto summary = grid.run({.at_a_time = 2, .checkpoint_s = 600});
    CHECK(summary.exit_code() == ExitCode::kInterrupted);
    CHECK(summary.done == 2);
  }
  SECTION("the worker dies") {
    grid.machine.lives_s = [](int) { return 500.0; };
    CHECK(grid.run({.at_a_time = 2, .checkpoint_s = 600}).done == 0);
    CHECK(grid.outcomes(2) == Outcomes{"lost"});
    CHECK(grid.clock.now_s() == Approx(500).margin(2));
  }
  SECTION("another stop request is harsher") {
    grid.stops.often = [&] { return grid.clock.now_s() < 100 ? 0 : grid.clock.now_s() < 200 ? 1 : 2; };
    CHECK(grid.run({.at_a_time = 2, .checkpoint_s = 600}).done == 0);
    CHECK(says(grid.attempt(1).reason, "; the trial can resume after step 10"));
  }
  CHECK(grid.history().outcomes(grid.key(3)).empty());
}
