// Pings of a worker, the end of a worker that does not answer, and the signals that end a grid.
#include <chrono>
#include <thread>

#include "core/host/scheduler/grid_run.h"
#include "core/host/scheduler/surroundings.h"
#include "core/util/stop_on_signal.h"
#include "tests/support/catch.h"

using namespace ablate;
using Next = Liveness::Next;

TEST_CASE("a worker that does not answer is abandoned, even if no trial is late") {
  Liveness liveness(5, 60);
  CHECK(liveness.look(false, 59) == Next::kNothing);
  CHECK(liveness.look(false, 60) == Next::kAsk);
  CHECK(liveness.look(false, 119) == Next::kNothing);
  CHECK(liveness.look(false, 120) == Next::kGiveUp);
  liveness.answered(130);  // the next worker answers
  CHECK(liveness.look(true, 134) == Next::kNothing);
  CHECK(liveness.look(true, 135) == Next::kAsk);
  CHECK(liveness.look(true, 140) == Next::kGiveUp);
}

TEST_CASE("a worker that answers is waited for") {
  Liveness liveness(5, 60);
  double now = 0;
  for (int i = 0; i < 100; ++i) {
    const bool overdue = i % 2 == 1;
    now += overdue ? 6 : 61;
    CHECK(liveness.look(overdue, now) == Next::kAsk);
    liveness.answered(now);
  }
}

TEST_CASE("every signal that ends a process from outside stops a grid, and is named") {
  const StopOnSignal stop;
  for (const int signal : stop_signals()) {
    asked_to_stop = 0;
    REQUIRE(raise(signal) == 0);
    CHECK(asked_to_stop == signal);
    CHECK(who_asked_to_stop().size() > 3);
  }
  asked_to_stop = SIGUSR1;
  CHECK(who_asked_to_stop() == "SIGUSR1");
  asked_to_stop = SIGRTMIN + 1;
  CHECK(who_asked_to_stop().starts_with("signal "));
  asked_to_stop = 0;
}

TEST_CASE("a signal that arrives twice at once, or a hang-up after another signal, is one request") {
  const StopOnSignal stop;
  const StopRequests stops;
  // On a busy machine these signals may be so far apart that they count as several requests. Then the test tries again.
  for (bool at_once = false; !at_once;) {
    asked_to_stop = 0;
    first_asked_to_stop = 0;
    asked_to_stop_often = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i) REQUIRE(raise(SIGTERM) == 0);
    at_once = std::chrono::steady_clock::now() - start < std::chrono::milliseconds(15);
  }
  REQUIRE(raise(SIGHUP) == 0);
  CHECK(stops.how() == StopRequests::How::kSaves);
  CHECK(stops.who() == "SIGTERM");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  REQUIRE(raise(SIGHUP) == 0);
  CHECK(stops.how() == StopRequests::How::kSaves);
  REQUIRE(raise(SIGTERM) == 0);
  CHECK(stops.how() == StopRequests::How::kAtOnce);
}

TEST_CASE("the first stop request is mild, the next ones are harsher, and SIGQUIT is the mildest") {
  using How = StopRequests::How;
  const auto hows = [](const std::vector<int>& signals) {
    const StopOnSignal stop;
    std::vector all{StopRequests().how()};
    for (const int signal : signals) {
      REQUIRE(raise(signal) == 0);
      all.push_back(StopRequests().how());
    }
    return all;
  };
  CHECK(hows({SIGTERM, SIGINT, SIGINT}) == std::vector{How::kGoesOn, How::kSaves, How::kAtOnce, How::kAtOnce});
  CHECK(hows({SIGQUIT, SIGTERM, SIGINT}) == std::vector{How::kGoesOn, How::kFinishes, How::kSaves, How::kAtOnce});
  CHECK(hows({SIGHUP, SIGQUIT}) == std::vector{How::kGoesOn, How::kSaves, How::kAtOnce});
  CHECK(hows({SIGXCPU, SIGUSR1}).at(1) == How::kSaves);
}

TEST_CASE("a signal before an inner wait counts in that wait, and is forgotten after the outer wait") {
  {
    const StopOnSignal outer;
    CHECK_NOTHROW(stop_if_asked());
    REQUIRE(raise(SIGTERM) == 0);
    {
      const StopOnSignal inner;
      CHECK(asked_to_stop == SIGTERM);
      REQUIRE(raise(SIGINT) == 0);
    }
    CHECK(asked_to_stop == SIGINT);
    REQUIRE(raise(SIGTERM) == 0);  // the outer StopOnSignal is still active
    CHECK(asked_to_stop_often == 3);
    CHECK_THROWS_WITH(stop_if_asked(), "interrupted by SIGTERM");
  }
  CHECK(asked_to_stop == 0);
}
