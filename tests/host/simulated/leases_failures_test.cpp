// Several schedulers with one history. Some trials fail, run out of memory or are refused, and other schedulers may retry them.
#include "core/util/error.h"
#include "tests/host/simulated/runner.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::simulated;
using End = Act::End;
using Outcomes = std::vector<std::string>;

TEST_CASE("a scheduler does not rerun trials that fail elsewhere between its plan and its first trial") {
  SharedPlace place(2);
  Runner one(place, 1, {.at_a_time = 1}), two(place, 2);
  one.machine.act = [](std::uint64_t seed, int) { return Act{.end = seed == 1 ? End::kFails : End::kAnswers}; };
  go_on({&one});
  go_on({&two});
  CHECK(place.outcomes(1) == Outcomes{"failed"});
  CHECK(two.summary().failed_elsewhere == 1);
  CHECK(two.summary().elsewhere == 1);
}

TEST_CASE("trials that fail elsewhere count and are not rerun; trials that are interrupted elsewhere are rerun") {
  SharedPlace place(4);
  Runner one(place, 1, {.at_a_time = 4}), two(place, 2, {.at_a_time = 4});
  one.machine.act = [](std::uint64_t seed, int) { return seed == 1 ? Act{End::kFails, 10} : Act{.takes_s = 50}; };
  one.steps(5);
  two.steps(2);
  one.steps(15);
  CHECK(place.outcomes(1) == Outcomes{"failed"});
  one.stops = 1;
  go_on({&one, &two});
  CHECK(place.outcomes(1) == Outcomes{"failed"});
  CHECK(place.outcomes(2) == Outcomes{"interrupted", "done"});
  CHECK(one.summary().interrupted);
  CHECK(two.summary().done == 3);
  CHECK(two.summary().failed_elsewhere == 1);
  CHECK(two.summary().exit_code() == ExitCode::kTrialsFailed);
}

TEST_CASE("a trial that ran out of memory is not given up while another scheduler can run it alone") {
  SharedPlace place(3);
  Runner one(place, 1, {.at_a_time = 3}), two(place, 2, {.at_a_time = 1});
  const auto act = [](std::uint64_t seed, int) {
    return Act{seed == 1 ? End::kLacksMemory : End::kAnswers, seed == 1 ? 10.0 : 100.0};
  };
  one.machine.act = act, two.machine.act = act;
  one.steps(3), two.steps(3);
  SECTION("the first scheduler with room runs the trial, and the other accepts that result") {
    while (place.outcomes(1).empty()) one.step();
    two.steps(5);
    CHECK(two.machine.runs == std::map<std::uint64_t, int>{{1, 1}});
    go_on({&one, &two});
    CHECK(place.outcomes(1) == Outcomes{"oom", "oom"});
    CHECK(one.summary().failed == 0);
    CHECK(one.summary().failed_elsewhere == 1);
    CHECK(two.summary().failed == 1);
    CHECK(two.summary().failed_elsewhere == 0);
  }
  SECTION("if its own scheduler runs the trial first, the other waits for the trial") {
    while (one.step()) {
    }
    go_on({&two});
    CHECK(place.outcomes(1) == Outcomes{"oom", "oom"});
    CHECK(one.summary().failed == 1);
    CHECK(two.summary().failed_elsewhere == 1);
    CHECK(two.machine.runs.empty());
  }
  CHECK(one.summary().done + one.summary().elsewhere == 2);
}

TEST_CASE("a trial that another scheduler refuses is tried here") {
  SharedPlace place(2);
  Runner one(place, 1, {.at_a_time = 1}), two(place, 2, {.at_a_time = 1});
  two.machine.act = [](std::uint64_t, int) { return Act{.takes_s = 100}; };
  one.machine.act = [](std::uint64_t, int) { return Act{.end = End::kFindsNoRoom}; };
  two.steps(3);
  while (place.outcomes(2).empty()) one.step();
  go_on({&one, &two});
  CHECK(place.outcomes(2) == Outcomes{"refused", "done"});
  CHECK(one.summary().failed == 1);
  CHECK(two.summary().failed_elsewhere == 0);
  CHECK(two.summary().done == 2);
}

TEST_CASE("after too many failures, another scheduler's done trials count, and the rest are not started") {
  SharedPlace place(2);
  Runner one(place, 1, {.at_a_time = 1, .max_failures = {.trials = 1}}), two(place, 2, {.at_a_time = 1});
  two.machine.act = [](std::uint64_t, int) { return Act{.takes_s = 100}; };
  one.machine.act = [](std::uint64_t, int) { return Act{End::kFails, 5}; };
  two.steps(3);
  one.steps(20);
  REQUIRE(one.summary().failed == 1);
  REQUIRE(place.outcomes(2) == Outcomes{"failed"});
  const bool is_killed = GENERATE(false, true);
  if (is_killed)
    two.is_killed();
  else
    go_on({&two});
  go_on({&one});
  CHECK(one.summary().elsewhere == (is_killed ? 0 : 1));
  CHECK(one.summary().not_started == (is_killed ? 1 : 0));
  CHECK(one.machine.runs == std::map<std::uint64_t, int>{{2, 1}});
}

TEST_CASE("trials that failed before a scheduler started are retried only on request") {
  SharedPlace place(1);
  Runner one(place, 1);
  one.machine.act = [](std::uint64_t, int) { return Act{End::kFails, 1}; };
  go_on({&one});
  Runner two(place, 2);
  go_on({&two});
  CHECK(place.outcomes(1) == Outcomes{"failed"});
  CHECK(two.summary().set_aside.total() == 1);
  Runner three(place, 3, {.at_a_time = 2, .retry = {"failed"}});
  go_on({&three});
  CHECK(place.outcomes(1) == Outcomes{"failed", "done"});
}

TEST_CASE("a trial that ran out of memory runs alone once more, in the first scheduler with room") {
  SharedPlace place(12);
  const RunOptions three{.at_a_time = 3};
  Runner one(place, 1, three), two(place, 2, three), other(place, 3, three);
  for (auto* runner : {&one, &two, &other})
    runner->machine.act = [](std::uint64_t seed, int) { return Act{.end = seed == 1 ? End::kLacksMemory : End::kAnswers}; };
  go_on({&one, &two, &other});
  CHECK(place.outcomes(1) == Outcomes{"oom", "oom"});
}

TEST_CASE("a worker replaced while the queue is empty can run trials that other schedulers release") {
  SharedPlace place(2);
  Runner one(place, 1, {.at_a_time = 1}), two(place, 2, {.at_a_time = 1});
  one.machine.act = [](std::uint64_t, int) { return Act{End::kAnswers, 50}; };
  two.machine.act = [](std::uint64_t, int) { return Act{End::kAnswers, 500}; };
  one.machine.lives_s = [](int executor) { return executor == 1 ? 100.0 : kNever; };
  for (int i = 0; i < 20; ++i) one.step(), two.step();
  one.steps(150);
  REQUIRE(one.machine.started == 2);
  REQUIRE(done_in(place.history()) == 1);
  two.is_killed();
  go_on({&one});
  CHECK(done_in(place.history()) == 2);
}
