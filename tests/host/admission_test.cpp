// When trials may start.
#include "core/host/scheduler/admission.h"

#include "tests/support/catch.h"

using namespace ablate;

namespace {

const Trial kTrial;
const PlannedTrial kA{.trial = &kTrial, .key = "a"}, kB{.trial = &kTrial, .key = "b"};

}  // namespace

TEST_CASE("trials start side by side, and one that has seen a worker die alone") {
  Admission admission(2);
  CHECK(admission.may_start(kA, 0, nullptr, 0));
  CHECK(admission.may_start(kB, 1, &kA, 0));
  CHECK_FALSE(admission.may_start(kB, 2, &kA, 0));
  CHECK(admission.may_run_again(kA));
  CHECK_FALSE(admission.may_start(kA, 1, &kB, 0));
  CHECK_FALSE(admission.may_start(kB, 1, &kA, 0));
  CHECK(admission.may_start(kA, 0, nullptr, 0));
  CHECK(admission.may_run_again(kA));
  CHECK_FALSE(admission.may_run_again(kA));  // the third worker that died of it
  CHECK(admission.may_run_again(kB));
}

TEST_CASE("where there was no room a trial is tried again beside fewer, and later beside more") {
  Admission admission(8);
  CHECK(admission.may_be_tried_again(kA, 3, 100));
  CHECK(admission.jobs() == 3);
  CHECK_FALSE(admission.may_start(kA, 0, nullptr, 100.5));  // not at once
  CHECK(admission.may_start(kA, 2, &kB, 101.5));
  CHECK_FALSE(admission.may_start(kA, 3, &kB, 101.5));
  CHECK(admission.may_start(kA, 3, &kB, 111));
  CHECK(admission.jobs() == 4);
  CHECK(admission.may_be_tried_again(kA, 0, 112));
  CHECK(admission.jobs() == 1);  // never none
  int more = 0;
  while (admission.may_be_tried_again(kA, 0, 113)) ++more;
  CHECK(more == 28);  // thirty times in all
  admission.limit(2);
  for (int second = 200; second < 400; second += 11) admission.may_start(kB, 0, nullptr, second);
  CHECK(admission.jobs() == 1);  // a limit is for good
}
