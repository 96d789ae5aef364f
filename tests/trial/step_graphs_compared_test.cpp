// Comparisons of replayed steps with plain steps, and the choice of recorded shapes.
#include "core/util/error.h"
#include "tests/support/catch.h"
#include "tests/trial/recording_double.h"
#include "tests/trial/sum_work.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Takes steps of one shape; each adds 2.
void take(StepGraphs& graphs, int steps) {
  for (int i = 0; i < steps; ++i) graphs.step({numbers(2, 1)});
}

constexpr int kUnrecorded = StepGraphs::kPlainFirst;
/// Number of replays after which some steps have no comparison.
constexpr int kBeforeUnseen = 110;
constexpr int kUnseen = 4;  ///< number of steps without a comparison after two more replays

/// True if the step after a recording and `replays` - 1 replays notices that a number of the host has changed.
bool is_refused(int replays, bool is_last) {
  Sum sum;
  StepGraphs graphs(recording_double(), sum.work());
  take(graphs, kUnrecorded + replays);
  CHECK(graphs.replayed() == replays - 1);  // the first is a recording
  sum.factor = 3;
  try {
    graphs.step({numbers(2, 1)}, is_last);
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

TEST_CASE("the last step is always compared") {
  int unseen = 0;
  for (int replays = 100; replays < 130; ++replays) {
    CHECK(is_refused(replays, true));
    unseen += is_refused(replays, false) ? 0 : 1;
  }
  CHECK(unseen > 20);  // most of these steps are compared only if they are the last
}

TEST_CASE("a shape's last replay is compared, also if other steps follow") {
  const auto begin = [](StepGraphs& graphs, Sum& sum) {
    take(graphs, kUnrecorded + kBeforeUnseen);
    sum.factor = 3;
    take(graphs, 2);
  };
  const auto is_wrong = Catch::Matchers::StartsWith("replay 112 of a recorded step gives other numbers");
  Sum sum;
  StepGraphs graphs(recording_double(), sum.work());
  SECTION("the last step has another shape") {
    begin(graphs, sum);
    CHECK_THROWS_WITH(graphs.step({numbers(3, 1)}, true), is_wrong);
  }
  SECTION("the last step has no targets") {
    begin(graphs, sum);
    auto none = numbers(2, 1);
    none.targets = at::zeros({0}, at::kLong);
    CHECK_THROWS_WITH(graphs.step({none}, true), is_wrong);
  }
  SECTION("another shape cannot be recorded, and all steps become plain") {
    begin(graphs, sum);
    sum.waits = true;
    const auto other = [&] { graphs.step({numbers(3, 1)}); };
    for (int i = 0; i < kUnrecorded; ++i) other();
    CHECK_THROWS_WITH(other(), is_wrong);
  }
  SECTION("nothing is wrong, and nothing changes") {
    take(graphs, kUnrecorded + kBeforeUnseen + 2);
    const auto before = sum.total.clone();
    const int calls = sum.calls;
    CHECK(graphs.uncompared() == kUnseen);
    graphs.step({numbers(3, 1)}, true);
    CHECK(sum.calls == calls + 2);  // the step itself and the comparison
    CHECK(sum.total.equal(before + 3));
    CHECK(graphs.uncompared() == 0);
    CHECK(graphs.replayed() == kBeforeUnseen + 1);
    graphs.step({numbers(3, 1)}, true);
    CHECK(sum.calls == calls + 3);  // the last replay was compared before
  }
}

TEST_CASE("replays that cannot be repeated, because a tensor was replaced, are counted") {
  Sum sum;
  StepGraphs graphs(recording_double(), sum.work());
  take(graphs, kUnrecorded + kBeforeUnseen + 2);
  sum.total = sum.total.clone();
  SECTION("before the next step of that shape") { take(graphs, 1); }
  SECTION("before the last step, of another shape") { graphs.step({numbers(3, 1)}, true); }
  CHECK(graphs.uncompared() == kUnseen);
  take(graphs, 20);
  graphs.step({numbers(2, 1)}, true);
  CHECK(graphs.uncompared() == kUnseen);  // the count has not grown
}

TEST_CASE("the number of replays between two comparisons is bounded, for any length of a training") {
  Sum sum;
  StepGraphs graphs(recording_double(), sum.work());
  take(graphs, kUnrecorded + 1100);
  sum.factor = 3;
  const auto begun = graphs.replayed();
  CHECK_THROWS_WITH(take(graphs, 2 * StepGraphs::kMostGap),
                    Catch::Matchers::Contains("so earlier replays may have been wrong"));
  CHECK(graphs.replayed() - begun <= StepGraphs::kMostGap);
}

TEST_CASE("faults that recur every few steps are found") {
  for (const int period : {16, 50}) {
    INFO(period);
    Sum sum;
    StepGraphs graphs(recording_double(), sum.work());
    const auto train = [&] {
      for (int step = 1; step <= 20000; ++step) {
        sum.factor = step % period == 0 ? 3 : 1;
        graphs.step({numbers(2, 1)});
      }
    };
    CHECK_THROWS_WITH(train(), Catch::Matchers::Contains("numbers of the host that change from step to step"));
  }
}

TEST_CASE("operations that give other numbers each time are reported, and early steps are plain") {
  Sum sum;
  double next = 0;
  sum.drawn = [&next] { return ++next; };
  StepGraphs graphs(recording_double(), sum.work());
  take(graphs, 10);
  CHECK(graphs.why() ==
        "replay 1 of a recorded step gives other numbers than the plain step; the plain step also gives different numbers each "
        "time");
  CHECK(graphs.replayed() == 0);
}

TEST_CASE("if each run of a step differs, the returned loss belongs to the result in use") {
  auto total = at::zeros({1});
  double drawn = 0;
  StepGraphs graphs(recording_double(),
                    {.run = [&](const std::vector<Batch>&, const Perform& perform, LossPasses*) -> std::optional<double> {
                       const double loss = ++drawn;
                       perform(0, [&] { total.add_(loss); });
                       return loss;
                     },
                     .tensors = [&] { return std::vector{total}; },
                     .generators = {}});
  double expected = 0;
  for (int step = 0; step < 10; ++step) {
    expected += graphs.step({numbers(2, 1)}).value();
    CHECK(total.item<double>() == expected);
  }
}

TEST_CASE("a shape that occurs once does not displace recurring shapes") {
  Sum sum;
  StepGraphs graphs(recording_double(), sum.work());
  for (std::int64_t count = 3; count < 3 + 2 * static_cast<std::int64_t>(StepGraphs::kMost); ++count)
    graphs.step({numbers(count, 1)});
  take(graphs, 10);
  CHECK(graphs.replayed() == 10 - kUnrecorded - 1);
  CHECK(graphs.why() == "");
}

TEST_CASE("if no shape recurs, all steps are plain, with a reason") {
  Sum sum;
  StepGraphs graphs(recording_double(), sum.work());
  double expected = 0;
  for (std::int64_t count = 1; count <= 100; ++count) {
    graphs.step({numbers(count, 1)});
    expected += static_cast<double>(count);
  }
  CHECK(sum.total.item<double>() == expected);
  CHECK(graphs.replayed() == 0);
  CHECK(graphs.why() == "none of 64 batch shapes occurred 4 times");
}
