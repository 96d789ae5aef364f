// Decisions about when trials may start.
#include "core/host/scheduler/admission.h"

#include "core/host/scheduler/limits.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

const Trial kTrial;
const PlannedTrial kA{.trial = &kTrial, .key = "a"}, kB{.trial = &kTrial, .key = "b"}, kC{.trial = &kTrial, .key = "c"};

PlannedTrial of_width(int width, int seed) {
  return {.trial = &kTrial,
          .identity = {{{"model.width", width}, {"seed", seed}}, nlohmann::json::object()},
          .key = std::to_string(width) + "/" + std::to_string(seed)};
}

}  // namespace

TEST_CASE("trials start side by side, and a trial whose worker died runs alone") {
  Admission admission(2);
  CHECK(admission.may_start(kA, 0, nullptr, 0));
  CHECK(admission.may_start(kB, 1, &kA, 0));
  CHECK_FALSE(admission.may_start(kB, 2, &kA, 0));
  CHECK(admission.may_run_again(kA));
  CHECK_FALSE(admission.may_start(kA, 1, &kB, 0));
  CHECK_FALSE(admission.may_start(kB, 1, &kA, 0));
  CHECK(admission.may_start(kA, 0, nullptr, 0));
  CHECK(admission.may_run_again(kA));
  CHECK_FALSE(admission.may_run_again(kA));  // a third worker has died during this trial
  CHECK(admission.may_run_again(kB));
}

TEST_CASE("a trial that found no room is retried beside fewer trials, and later beside more trials") {
  Admission admission(8);
  CHECK(admission.may_be_tried_again(kA, 3, 100));
  CHECK(admission.at_a_time() == 3);
  CHECK_FALSE(admission.may_start(kA, 0, nullptr, 100.5));  // only after a pause
  CHECK(admission.may_start(kA, 2, &kB, 101.5));
  CHECK_FALSE(admission.may_start(kA, 3, &kB, 101.5));
  CHECK(admission.may_start(kA, 3, &kB, 111));
  CHECK(admission.at_a_time() == 4);
  CHECK(admission.may_be_tried_again(kA, 0, 112));
  CHECK(admission.at_a_time() == 1);  // at least one
  int more = 0;
  while (admission.may_be_tried_again(kA, 0, 113)) ++more;
  CHECK(more == 28);  // thirty times in total
  admission.limit(2);
  for (int second = 200; second < 400; second += 11) admission.may_start(kB, 0, nullptr, second);
  CHECK(admission.at_a_time() == 1);  // the lower number is now the limit
}

TEST_CASE("if a trial runs out of memory even alone, the number of trials at a time rises again") {
  Admission admission(8);
  admission.ran_out_beside(kA, 7);
  CHECK(admission.at_a_time() == 7);
  admission.ran_out_beside(kB, 3);
  CHECK(admission.at_a_time() == 3);
  CHECK_FALSE(admission.may_start(kA, 1, &kC, 0));  // kA and kB must run alone
  CHECK_FALSE(admission.may_start(kC, 1, &kB, 0));
  CHECK(admission.may_start(kC, 2, &kC, 0));
  CHECK(admission.is_halved());
  CHECK(admission.ran_out_alone(kA) == 0);  // the limit stays at three, because of kB
  CHECK(admission.has_taken_some(kB));
  CHECK_FALSE(admission.has_taken_some(kA));
  CHECK(admission.ran_out_alone(kB) == 5);
  CHECK(admission.at_a_time() == 8);
  CHECK_FALSE(admission.is_halved());
  CHECK(admission.ran_out_alone(kB) == 0);
  CHECK_FALSE(admission.may_start(kB, 1, &kC, 0));
  CHECK(admission.may_be_tried_again(kC, 2, 100));  // at most two at a time, but only for a while
  admission.ran_out_beside(kA, 6);
  CHECK(admission.at_a_time() == 2);
  CHECK(admission.ran_out_alone(kA) == 2);
  CHECK(admission.at_a_time() == 4);
  admission.limit(3);
  admission.ran_out_beside(kA, 2);
  CHECK(admission.ran_out_alone(kA) == 1);
  CHECK(admission.at_a_time() == 3);
}

TEST_CASE("the resident memory of earlier trials and their data is an estimate until a trial reports its memory") {
  const auto narrow = of_width(1, 1), another = of_width(1, 2), wide = of_width(2, 1);
  MemoryRoom room;
  SECTION("an earlier run's estimate is dropped once the trial, or one with another seed, reports its memory") {
    room.remember(another.key, 900);
    room.started(1, narrow, 0);
    CHECK_FALSE(room.has_room(another, 10'000, 0));  // the size of the running trial is unknown
    room.sized(1, 50, 0);
    CHECK_FALSE(room.has_room(another, 10'000, 0));
    room.sized(1, 100, 1);
    CHECK(room.has_room(another, 100, 0));
    CHECK(room.has_room(wide, 400, 0));  // four times the reported size, despite the larger resident size
    CHECK_FALSE(room.has_room(wide, 399, 0));
  }
  SECTION("an earlier run's estimate applies to its own trial only") {
    room.remember(wide.key, 900);
    room.started(1, narrow, 0);
    room.sized(1, 100, 1);
    CHECK_FALSE(room.has_room(wide, 899, 0));
    CHECK(room.has_room(wide, 900, 0));
    CHECK(room.has_room(another, 100, 0));
  }
  SECTION("a trial that failed before its first step leaves no estimate") {
    room.started(1, narrow, 0);
    room.sized(1, 50, 0);
    room.ended(1, 0);
    room.started(2, another, 1);
    CHECK_FALSE(room.has_room(wide, 1'000'000, 1));
    CHECK(room.has_room(wide, 0, 1 + MemoryRoom::kUnshown_s));
  }
  SECTION("the estimate of a trial that ended before any measurement holds until another trial reports its memory") {
    room.started(1, narrow, 0);
    room.ended(1, 900);
    room.started(2, another, 1);
    CHECK_FALSE(room.has_room(wide, 900 + 3599, 1));
    CHECK(room.has_room(wide, 900 + 3600, 1));
    room.sized(2, 100, 1);
    CHECK(room.has_room(wide, 400, 1));
  }
}
