// Tables of a study whose values are chosen by dev on separate seeds ([grid.tune] seeds).
#include <algorithm>

#include "db/questions/selection/chosen_values.h"
#include "db/report/printers.h"
#include "tests/db/tuned_study.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

/// Returns kPoints on the tuning seeds 101 and 102. If `is_reported`, adds results of seeds 1 to 3 at the chosen values. Their
/// dev numbers (5) would change the choice if they counted.
std::vector<TunedPoint> apart(bool is_reported) {
  auto points = kPoints;
  for (auto& point : points) point.seed += 100, point.tunes = true;
  if (!is_reported) return points;
  for (const int seed : {1, 2, 3}) points.push_back({"softmax", 3e-3, seed, 5, 50.0 + seed});
  for (const int seed : {1, 2, 3}) points.push_back({"linear", 1e-2, seed, 5, 30.0 + seed});
  return points;
}

}  // namespace

TEST_CASE("values that are chosen on tuning seeds are reported only with the other seeds") {
  const Tuned study(apart(true));
  CHECK(to_text(study.table(), Format::kText) ==
        "study: 6 trials; mean ± standard deviation of n = 3\n\n"
        "attention  train.learning_rate (of 3)  test/accuracy (%)\n"
        "softmax    0.003                       52.0 ± 1.0\n"
        "linear     0.01 ^                      32.0 ± 1.0\n"
        "\n"
        "note: train.learning_rate: the tried value with the best mean of dev/accuracy over other seeds (the first of equal "
        "means); results on test are read only for this value. A parameter that is named in --rows or --cols shows all values, "
        "on those other seeds\n"
        "note: ^ the largest or the smallest tried value (1 of 2 choices): a better value may lie beyond it\n"
        "note: values are compared on 2 seeds: without one of them, another value wins in 1 of 2 choices\n"
        "note: " +
            kOneBudget + "\n");
  // Only the tuning seeds have all values.
  const auto named = study.table({{"study"}, {}, {"train.learning_rate"}, {}});
  REQUIRE(named.columns == std::vector<std::vector<std::string>>{{"0.001"}, {"0.003"}, {"0.01"}});
  CHECK(named.cell(0, 0, 0).mean == 99);
  CHECK(named.cell(0, 0, 1).mean == 71);
  CHECK(named.cell(0, 0, 1).n == 2);
  CHECK(named.cell(1, 0, 2).mean == 41);
  CHECK(std::count(named.notes.begin(), named.notes.end(),
                   "all values of train.learning_rate are shown, on the seeds of [grid.tune]: results of the chosen value on "
                   "other seeds are left out") == 1);
  // A table by seed shows the reported seeds, at the value that the tuning seeds chose.
  const auto by_seed = study.table({{"study"}, {}, {"seed"}, {}});
  REQUIRE(by_seed.columns == std::vector<std::vector<std::string>>{{"1"}, {"2"}, {"3"}});
  CHECK(by_seed.cell(0, 0, 0).mean == 51);
  CHECK(by_seed.cell(1, 0, 2).mean == 33);
}

TEST_CASE("until the chosen values have run on the reported seeds, a table shows no result") {
  const Tuned study(apart(false));
  const auto table = study.table();
  REQUIRE(table.rows.size() == 2);
  for (std::size_t row : {0, 1}) {
    CHECK(table.cell(row, 0, 0).n == 0);
    CHECK(table.choice(row, 0, 0).values.empty());
  }
  CHECK(has(to_text(table, Format::kText), "undecided"));
  CHECK(std::count(table.notes.begin(), table.notes.end(),
                   "2 choices are not reported: none of their trials on the reported seeds is here, and no result is shown") ==
        1);
  // Even if --where selects a single value, the runs on tuning seeds are not shown as its result.
  const auto one = study.table({.experiments = {"study"}, .where = {"train.learning_rate=0.003"}});
  CHECK(one.cell(0, 0, 0).n == 0);
  const auto reported = Tuned(apart(true)).table({.experiments = {"study"}, .where = {"train.learning_rate=0.01"}});
  REQUIRE(reported.rows == std::vector<std::vector<std::string>>{{"softmax"}, {"linear"}});
  CHECK(reported.cell(0, 0, 0).n == 0);  // 0.01 was not chosen for softmax, and therefore not run
  CHECK(reported.cell(1, 0, 0).mean == 32);
}

TEST_CASE("a run chooses the same values as a table, and reports which choices depend on one seed") {
  const Tuned study(apart(false));
  std::vector<TriedValue> tried;
  for (std::int64_t i = 0; i < 12; ++i) tried.push_back({7 + i / 6, i % 6 / 2, i + 1, static_cast<std::uint64_t>(101 + i % 2)});
  using Chosen = std::map<std::int64_t, ChosenValue>;
  // Without seed 102, the best value of softmax is 0.001, with 90.
  CHECK(chosen_values(Reader(study.file()), tried) == Chosen{{7, {1, 2, true}}, {8, {2, 2, false}}});
  tried[3].attempt = 0;  // a seed of softmax at 0.003 is not done; 0.001 is the best of the others
  CHECK(chosen_values(Reader(study.file()), tried) == Chosen{{7, {0, 2, true}}, {8, {2, 2, false}}});
  for (std::size_t i = 6; i < 12; ++i) tried[i].attempt = 0;
  CHECK(chosen_values(Reader(study.file()), tried) == Chosen{{7, {0, 2, true}}, {8, {}}});
}
