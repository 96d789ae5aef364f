// A last column with the mean over the other columns, and derived values with a direction.
#include <cmath>
#include <nlohmann/json.hpp>

#include "db/report/printers.h"
#include "tests/db/seeds_study.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;
using Significance = Comparison::Significance;

namespace {

/// Records an attempt at each trial. A trial with an accuracy below 0 failed.
void run_all(Store& store, const std::vector<nlohmann::json>& trials, const std::vector<double>& accuracies) {
  for (std::size_t i = 0; i < trials.size(); ++i)
    store.put_attempt(accuracies[i] < 0 ? failed(trials[i], "out of memory") : done(trials[i], accuracies[i]));
}

/// Attentions on pictures of several sizes, with a value for each seed.
class Pooled {
 public:
  using All = std::map<std::string, std::map<int, std::vector<double>>>;  ///< by attention, task.pool and seed

  explicit Pooled(const All& all) : store_(file_) {
    std::vector<nlohmann::json> trials;
    std::vector<double> accuracies;
    for (const auto& [attention, pools] : all)
      for (const auto& [pool, values] : pools)
        for (std::size_t i = 0; i < values.size(); ++i) {
          trials.push_back(trial(attention, {}, static_cast<int>(i) + 1));
          trials.back()["task"]["pool"] = pool;
          accuracies.push_back(values[i]);
        }
    put(store_, "study", trials);
    run_all(store_, trials, accuracies);
  }

  Table table(AskedStatistics statistics, const std::vector<std::string>& metrics = {"test/accuracy"}) const {
    statistics["average"];
    return make_table(Reader(file_), {.experiments = {"study"},
                                      .rows = {"attention"},
                                      .columns = {"task.pool"},
                                      .metrics = metrics,
                                      .statistics = std::move(statistics)});
  }

 private:
  Folder folder_;
  std::filesystem::path file_ = folder_ / "a.db";
  Store store_;
};

}  // namespace

TEST_CASE("an average over the columns is computed for each seed, and has the trials of all columns") {
  const Pooled study({{"linear", {{1, {40, 50}}, {2, {60, 80}}}}, {"softmax", {{1, {30, 31}}, {2, {32, 33}}}}});
  const auto table = study.table({});
  REQUIRE(table.columns.size() == 3);
  CHECK(table.columns.back() == std::vector<std::string>{"average"});
  const auto& cell = table.cell(0, 0, 2);
  CHECK(cell.mean == Approx(57.5));
  REQUIRE(cell.samples.size() == 2);
  CHECK(cell.samples[0].value == Approx(50));
  CHECK(cell.samples[1].value == Approx(65));
  CHECK(cell.deviation == Approx(std::sqrt(112.5)));
  CHECK(cell.trials == 4);
  CHECK(cell.trial_ids.size() == 4);
  CHECK(table.cell(1, 0, 2).mean == Approx(31.5));
  CHECK(table.cell(0, 0, 1).mean == 70);  // the other columns stay unchanged
  CHECK(notes(table, "average: the mean over the columns, of each seed"));

  CHECK(has(to_text(table, Format::kMarkdown), "| task.pool=2 | average |\n"));
  const auto json = nlohmann::json::parse(to_text(table, Format::kJson));
  CHECK(json["cells"][2]["column"]["task.pool"] == "average");
  CHECK(has(to_text(table, Format::kCsv), "linear,average,test/accuracy,%,57.5,"));
  CHECK(has(to_text(study.table({{"rename", {"average=Avg."}}}), Format::kLatex), "& Avg."));
}

TEST_CASE("averages are tested seed by seed like any other column, and sort the rows") {
  Pooled::All all;
  all["a"] = {{1, kEight}, {2, plus(kEight, 3)}};
  all["b"] = {{1, plus(kEight, 4)}, {2, plus(kEight, 1)}};
  const Pooled study(all);
  const auto table = study.table({{"against", {"attention=a"}}, {"sort", {"test/accuracy"}}});
  CHECK(table.rows.front() == std::vector<std::string>{"b"});
  CHECK(table.cell(0, 0, 2).comparison().significance == Significance::kBetter);
  CHECK(table.cell(0, 0, 2).comparison().value == Approx(1));
  CHECK(table.cell(0, 0, 1).comparison().significance == Significance::kWorse);
  CHECK(table.comparisons == 3);
  // A column of the average is not compared with the average.
  const auto columns = study.table({{"against", {"task.pool=1"}}});
  CHECK(columns.cell(0, 0, 2).comparison().significance == Significance::kUntested);
  CHECK(has(columns.cell(0, 0, 2).comparison().untested, "compared with an average that includes them"));
}

TEST_CASE("a row with a missing cell has no average, and a row without common seeds has no deviation") {
  const Pooled study({{"failing", {{1, {40, 50}}, {2, {60, -1}}}},
                      {"gone", {{1, {40, 50}}, {2, {-1, -1}}}},
                      {"short", {{1, {40, 50, 60}}, {2, {60, 70}}}},
                      {"whole", {{1, {40, 50}}, {2, {60, 80}}}}});
  const auto table = study.table({{"against", {"attention=whole"}}});
  CHECK(table.cell(0, 0, 2).mean == Approx(52.5));  // mean of the columns' means: seed 2 of the second column failed
  CHECK(std::isnan(table.cell(0, 0, 2).deviation));
  CHECK(table.cell(0, 0, 2).failures.at(0).count == 1);
  CHECK(table.cell(1, 0, 2).trials == 0);
  CHECK(table.cell(2, 0, 2).mean == Approx(57.5));
  CHECK(std::isnan(table.cell(2, 0, 2).deviation));
  for (const std::size_t row : {0, 2}) CHECK(table.cell(row, 0, 2).comparison().significance == Significance::kUntested);
  CHECK(has(table.cell(2, 0, 2).comparison().untested, "are computed from means, not from seeds"));
  CHECK(notes(table, "average: rows have no deviation if their columns"));
  CHECK(notes(table, "average: rows that lack a number in a column have no average"));
  const Pooled single({{"single", {{1, {40, 50}}, {2, {60}}}}});
  CHECK(notes(single.table({}), "average: rows have no deviation if their columns"));
}

namespace {

/// One attention at several learning rates, with a value for each seed.
class Rates {
 public:
  explicit Rates(const std::vector<std::pair<double, std::vector<double>>>& rates) : store_(file_) {
    std::vector<nlohmann::json> trials;
    std::vector<double> accuracies;
    std::vector<PublishedValue> published;
    for (const auto& [rate, values] : rates)
      for (std::size_t i = 0; i < values.size(); ++i) {
        trials.push_back(trial("softmax", {}, static_cast<int>(i) + 1));
        trials.back()["train"]["learning_rate"] = rate;
        published.push_back({key_of(trials.back()), "test/accuracy", 100 * rate, "a paper"});
        accuracies.push_back(values[i]);
      }
    store_.put_published(put(store_, "study", trials), published);
    run_all(store_, trials, accuracies);
  }
  Table table(std::vector<std::string> columns, AskedStatistics statistics = {}) const {
    return make_table(Reader(file_), {.experiments = {"study"},
                                      .rows = {"attention"},
                                      .columns = std::move(columns),
                                      .metrics = {"test/accuracy"},
                                      .published = true,
                                      .statistics = std::move(statistics)});
  }

 private:
  Folder folder_;
  std::filesystem::path file_ = folder_ / "a.db";
  Store store_;
};

}  // namespace

TEST_CASE("settings of a cell have the same weight, even with different numbers of seeds") {
  const Rates unlike({{0.1, {10, 10, 10, 10}}, {0.2, {20}}});
  const auto cell = unlike.table({}).cell(0, 0, 0);
  CHECK(cell.mean == Approx(15));  // 12 would be the mean over all trials
  CHECK(cell.mean == Approx(unlike.table({"train.learning_rate"}, {{"average", {}}}).cell(0, 0, 2).mean));
  CHECK(cell.published == Approx(15));
  CHECK(std::isnan(cell.deviation));
  CHECK(notes(unlike.table({}),
              "settings of a cell have different seeds or numbers of values; each setting has the same weight: "
              "softmax"));
  // A failed setting lacks the seeds of the other setting, so there is no deviation.
  const Rates gone({{0.1, {10, 14}}, {0.2, {-1, -1}}});
  CHECK(gone.table({}).cell(0, 0, 0).mean == Approx(12));
  CHECK(std::isnan(gone.table({}).cell(0, 0, 0).deviation));
}

TEST_CASE("the deviation over settings is the deviation between the seeds' means over the settings") {
  const Rates study({{0.1, {10, 14, 11}}, {0.2, {20, 28, 23}}});
  const auto table = study.table({});
  const auto& cell = table.cell(0, 0, 0);
  CHECK(cell.mean == Approx(53.0 / 3));  // (15 + 21 + 17) / 3
  CHECK(cell.n == 3);
  CHECK(cell.deviation == Approx(std::sqrt((64.0 / 9 + 100.0 / 9 + 4.0 / 9) / 2)));
  CHECK(has(to_text(table, Format::kText), "17.7 ± 3.1 (2 settings)"));
  CHECK_FALSE(notes(table, "different seeds"));
  CHECK(study.table({}, {{"interval", {"0"}}}).cell(0, 0, 0).number("interval") ==
        Approx(4.302652729911275 * cell.deviation / std::sqrt(3)));
}

TEST_CASE("an average needs several columns, and averages derived values, too") {
  const Pooled study({{"a", {{1, {40}}}}, {"b", {{1, {50}}}}});
  CHECK(has(error_of([&] { study.table({}); }), "--average: found 1 column, expected several"));
  const Pooled other({{"a", {{1, {40}}, {2, {80}}}}});
  const auto table =
      other.table({{"derive", {"both[max] = test/accuracy + train/step_time"}}}, {"test/accuracy", "train/step_time"});
  CHECK(table.cell(0, 2, 2).mean == Approx(100));
}

TEST_CASE("a derived value whose better direction is known is tested, and a derived value of means is not") {
  const Study study({{"softmax", kEight}, {"above", plus(kEight, 2)}, {"below", plus(kEight, -1)}});
  const std::vector<std::string> metrics = {"test/accuracy", "train/step_time"};
  const auto asked = [&](const std::string& derive) {
    return study.table_with({{"derive", {derive}}, {"against", {"attention=softmax"}}}, metrics);
  };
  const auto better = asked("gain[points max] = test/accuracy - train/step_time");
  CHECK(better.metrics[2].name == "gain");
  CHECK(better.metrics[2].unit == "points");
  CHECK(better.cell(0, 2, 0).comparison().significance == Significance::kBetter);
  CHECK(better.cell(1, 2, 0).comparison().significance == Significance::kWorse);
  CHECK(has(to_text(better, Format::kText), "gain (points)"));
  CHECK(asked("gain [min] = test/accuracy").cell(0, 2, 0).comparison().significance == Significance::kWorse);
  CHECK(asked("gain = test/accuracy").cell(0, 2, 0).comparison().significance == Significance::kNone);
  const auto means = asked("place[max] = rank(test/accuracy)");
  CHECK(means.cell(0, 2, 0).comparison().significance == Significance::kUntested);
  CHECK(has(means.cell(0, 2, 0).comparison().untested, "are computed from means, not from seeds"));
  CHECK(has(error_of([&] { asked("[max] = test/accuracy"); }), "expected NAME = EXPRESSION"));
  const auto sorted = study.table_with({{"derive", {"loss[min] = -test/accuracy"}}, {"sort", {"loss"}}});
  CHECK(sorted.rows.front() == std::vector<std::string>{"above"});
}

TEST_CASE("values without seeds have no partner: a derived value then uses their means") {
  Table table;
  table.row_paths = {"attention"}, table.columns = {{}}, table.column_values = {{}};
  table.rows = {{"a"}}, table.row_values = {{"a"}};
  for (const auto* name : {"x", "y"}) {
    table.metrics.emplace_back().name = name;
    auto& cell = table.cells.emplace_back();
    cell.trials = 2, cell.samples = {{std::nullopt, 10}, {std::nullopt, 30}};
  }
  run_statistics({{"derive", {"sum = x + y"}}}, table);
  CHECK(table.cell(0, 2, 0).mean == 40);  // not 20, the sum of the first values
  CHECK(std::isnan(table.cell(0, 2, 0).deviation));
}
