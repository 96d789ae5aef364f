// Several schedulers with one history in one thread. A trial is done once, even if its scheduler dies, stops or loses its lock.
#include <algorithm>
#include <utility>

#include "core/util/error.h"
#include "tests/host/simulated/runner.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::simulated;
using End = Act::End;
using Outcomes = std::vector<std::string>;

TEST_CASE("schedulers share a grid: each trial runs once, and no scheduler ends before the last trial") {
  SharedPlace place(12);
  Runner one(place, 1), two(place, 2), three(place, 3, {.at_a_time = 3});
  go_on({&one, &two, &three});
  CHECK(place.history().attempts.size() == 12);
  CHECK(done_in(place.history()) == 12);
  for (const auto* runner : {&one, &two, &three}) {
    CHECK(runner->summary().done > 0);
    CHECK(runner->summary().done + runner->summary().elsewhere == 12);
    CHECK(runner->summary().exit_code() == ExitCode::kDone);
  }
  CHECK(one.summary().done + two.summary().done + three.summary().done == 12);
  CHECK(place.history().owners.empty());
  CHECK(place.holders.processes[Grid::kFile].empty());
}

TEST_CASE("a scheduler with no trial to start waits for the others' trials, and reports this once") {
  SharedPlace place(3);
  Runner one(place, 1, {.at_a_time = 3}), two(place, 2);
  one.machine.act = [](std::uint64_t, int) { return Act{.takes_s = 300}; };
  one.steps(5);
  go_on({&two, &one});
  CHECK(two.summary().done == 0);
  CHECK(two.summary().elsewhere == 3);
  CHECK(says(two.output(), "3 trials run elsewhere: waiting for them"));
  CHECK(two.output().find("elsewhere") == two.output().rfind("elsewhere"));
  CHECK(one.output().find("elsewhere") == std::string::npos);
}

TEST_CASE("trials of a killed scheduler are taken over with one message, and done trials stay done") {
  SharedPlace place(6);
  Runner one(place, 1, {.at_a_time = 2}), two(place, 2, {.at_a_time = 1});
  one.steps(15);
  REQUIRE(done_in(place.history()) == 2);
  two.steps(5);
  one.is_killed();
  go_on({&two});
  CHECK(two.summary().done == 4);
  CHECK(two.summary().elsewhere == 2);
  CHECK(place.history().attempts.size() == 6);
  CHECK(says(two.output(), "process 1 on simulated has ended without notice; its trials are taken over"));
  CHECK(two.output().find("without notice") == two.output().rfind("without notice"));
}

TEST_CASE("leases of a dead scheduler are released by the next one, even for trials outside its study") {
  SharedPlace place(1);
  Runner one(place, 1);
  one.steps(5);
  one.is_killed();
  auto& history = place.disk.files.at(Grid::kFile);
  auto held = history.leases.extract(place.key(1));
  held.key() = "of another study";
  history.leases.insert(std::move(held));
  Runner two(place, 2);
  go_on({&two});
  CHECK(history.leases.at("of another study").outcome == "");
  CHECK(history.owners.empty());
}

TEST_CASE("a scheduler that lost its lock takes it again and stays the owner") {
  SharedPlace place(1);
  place.holders.places_are_kept = true;
  Runner one(place, 1), two(place, 2);
  one.machine.act = [](std::uint64_t, int) { return Act{End::kAnswers, 100}; };
  one.steps(5);
  place.holders.dies(1);
  one.steps(2);
  go_on({&two, &one});
  CHECK(place.outcomes(1) == Outcomes{"done"});
  CHECK(two.summary().elsewhere == 1);
}

TEST_CASE("a stopped scheduler stays the owner, however long it is stopped") {
  SharedPlace place(3);
  Runner one(place, 1, {.at_a_time = 1}), two(place, 2);
  one.steps(5);
  two.steps(4000);  // `one` makes no steps meanwhile
  CHECK(done_in(place.history()) == 2);
  CHECK(place.outcomes(1).empty());
  go_on({&two, &one});
  CHECK(place.outcomes(1) == Outcomes{"done"});
  CHECK(one.summary().done == 1);
  CHECK(two.summary().elsewhere == 1);
}

TEST_CASE("a late result is stored and reported but not counted: the other result is recorded") {
  SharedPlace place(2);
  Runner one(place, 1, {.at_a_time = 2}), two(place, 2, {.at_a_time = 2});
  one.machine.act = [](std::uint64_t, int) { return Act{.takes_s = 20}; };
  one.steps(5);
  place.holders.dies(1);  // the effect of locks that do not work, or of a removed lock file
  SECTION("the other result comes first") {
    two.steps(12);
    CHECK(done_in(place.history()) == 2);
    go_on({&one, &two});
  }
  SECTION("the late result comes first") {
    two.machine.act = [](std::uint64_t, int) { return Act{.takes_s = 100}; };
    two.steps(2);
    go_on({&one, &two});
  }
  CHECK(done_in(place.history()) == 2);
  for (const int seed : {1, 2}) {
    auto outcomes = place.outcomes(seed);
    std::sort(outcomes.begin(), outcomes.end());
    CHECK(outcomes == Outcomes{"done", "interrupted"});
  }
  for (const auto& attempt : place.history().attempts)
    if (attempt.outcome == "interrupted") {
      CHECK(says(attempt.reason, "came late: another scheduler had taken the trial over (fence "));
      CHECK(says(attempt.reason, "; it was done, test/accuracy "));
      CHECK(attempt.results.empty());
    }
  CHECK(one.summary().done == 0);
  CHECK(one.summary().elsewhere == 2);
  CHECK(two.summary().done == 2);
  CHECK(says(one.output(), "warning: the result of seed=1 came late"));
  CHECK(says(one.output(), "late "));
  CHECK_FALSE(says(one.output(), "[1/"));  // no trial of `one` counts as ended
  CHECK(says(one.output(), "; came late"));
}

TEST_CASE("a late result is waited for like any other when all other trials have ended") {
  SharedPlace place(1);
  place.disk.fails = [&](const std::filesystem::path&) {
    if (place.clock.now_s() > 5 && place.clock.now_s() < 30) throw db::Unavailable("the disk is full");
  };
  Runner one(place, 1), two(place, 2);
  bool taken = false;
  place.clock.while_waiting = [&](double) {  // `two` runs before `one` can write its waiting results
    if (place.clock.now_s() < 30 || std::exchange(taken, true)) return;
    place.holders.dies(1);
    go_on({&two});
  };
  go_on({&one});
  CHECK(two.summary().done == 1);
  CHECK(one.summary().done == 0);
  CHECK(one.summary().elsewhere == 1);
  CHECK(place.outcomes(1) == Outcomes{"done", "interrupted"});
}

TEST_CASE("a late attempt that failed or ran out of memory is neither counted, reported nor run again") {
  SharedPlace place(2);
  Runner one(place, 1, {.at_a_time = 2}), two(place, 2, {.at_a_time = 2});
  one.machine.act = [](std::uint64_t seed, int) {
    return seed == 1 ? Act{.end = End::kLacksMemory, .takes_s = 20} : Act{.end = End::kFails, .takes_s = 22};
  };
  SECTION("when the attempt is written at once") {
    one.steps(5);
    place.holders.dies(1);
    two.machine.act = [](std::uint64_t, int) { return Act{.takes_s = 100}; };
    two.steps(2);
    go_on({&one, &two});
    CHECK_FALSE(says(one.output(), "beside 1 other"));
  }
  SECTION("when the attempt had to wait to be written") {
    bool taken = false;
    place.disk.fails = [&](const std::filesystem::path&) {
      if (place.clock.now_s() > 5 && !taken) throw db::Unavailable("the disk is full");
    };
    place.clock.while_waiting = [&](double) {
      if (place.clock.now_s() < 40 || std::exchange(taken, true)) return;
      place.holders.dies(1);
      go_on({&two});
    };
    go_on({&one});
    CHECK(taken);
  }
  CHECK(one.summary().done == 0);
  CHECK(one.summary().failed == 0);
  CHECK(one.summary().elsewhere == 2);
  CHECK(one.summary().reasons.empty());
  CHECK(one.machine.runs == std::map<std::uint64_t, int>{{1, 1}, {2, 1}});
  CHECK(two.summary().done == 2);
  CHECK(done_in(place.history()) == 2);
  CHECK(place.history().attempts.size() == 4);
}

TEST_CASE("if a history is found damaged between two trials, no further trial starts") {
  const double takes_s = GENERATE(10.0, 10.2, 10.4, 10.6, 10.8);  // with some of these, leases are checked before the start
  SharedPlace place(4);
  Runner one(place, 1, {.at_a_time = 1}), two(place, 2, {.at_a_time = 1});
  two.machine.act = [&](std::uint64_t, int) { return Act{End::kAnswers, takes_s}; };
  one.machine.act = [](std::uint64_t, int) { return Act{End::kAnswers, 1000}; };
  while (place.history().leases.empty()) one.step();
  while (done_in(place.history()) == 0) two.step();
  place.disk.fails = [](const std::filesystem::path& file) {
    if (file == Grid::kFile) throw Error("malformed");
  };
  CHECK_THROWS_AS(go_on({&two}), Error);
  CHECK(two.machine.runs == std::map<std::uint64_t, int>{{2, 1}});
}

TEST_CASE("two schedulers that rerun everything wait only for each other's trials") {
  SharedPlace place(5);
  const RunOptions again{.at_a_time = 2, .again = true};
  Runner one(place, 1, again), two(place, 2, again);
  std::map<std::uint64_t, int> running;
  const auto watch = [&](Runner& runner) {
    runner.machine.act = [&](std::uint64_t seed, int) {
      for (const auto& [key, lease] : place.history().leases)
        if (key == place.key(static_cast<int>(seed))) CHECK_FALSE(lease.outcome);
      return Act();
    };
  };
  watch(one), watch(two);
  go_on({&one, &two});
  CHECK(one.summary().done == 5);
  CHECK(two.summary().done == 5);
  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> times;
  for (const auto& attempt : place.history().attempts) times[attempt.key].emplace_back(attempt.started_us, attempt.wall_s);
  for (auto& [key, all] : times) {
    std::sort(all.begin(), all.end());
    REQUIRE(all.size() == 2);
    CHECK(static_cast<double>(all[1].first - all[0].first) >= all[0].second * 1e6 - 1e3);
  }
}

TEST_CASE("if locks may not work, a second scheduler is refused, and a single scheduler is warned") {
  SharedPlace place(2);
  place.holders.doubt = "it is on nfs, where other machines may not see its locks";
  Runner one(place, 1), two(place, 2);
  one.steps(3);
  CHECK(says(one.output(), "warning: /simulated/ablate.db: it is on nfs"));
  std::string why;
  try {
    two.steps(3);
  } catch (const Error& error) {
    why = error.what();
    CHECK(error.code() == ExitCode::kUsage);
  }
  CHECK(says(why, "/simulated/ablate.db is used by another run, process 1 on simulated, and it is on nfs"));
  CHECK(says(why, "--db FILE"));
  CHECK(place.history().owners.size() == 1);
  one.is_killed();
  place.clock.wait(61);  // a scheduler counts as gone after 60 s: the only decision based on a clock
  Runner three(place, 3);
  go_on({&three});
  CHECK(three.summary().done == 2);
}

TEST_CASE("while nothing can be written, no trial starts, and other schedulers' results are noticed later") {
  SharedPlace place(4);
  Runner one(place, 1, {.at_a_time = 1}), two(place, 2, {.at_a_time = 1});
  one.steps(3), two.steps(3);
  bool full = true;
  const auto from = place.clock.now_s();
  place.disk.fails = [&](const std::filesystem::path&) {
    if (full) throw db::Unavailable("the disk is full");
  };
  while (place.clock.now_s() < from + 100) one.step(), two.step();
  CHECK(one.machine.runs.size() + two.machine.runs.size() == 2);
  full = false;
  go_on({&one, &two});
  CHECK(place.history().attempts.size() == 4);
  CHECK(done_in(place.history()) == 4);
}
