// Tests of significance in tables: significant differences, and rows that are not tested.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "db/questions/tables/make_table.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/power.h"
#include "db/report/printers.h"
#include "tests/db/seeds_study.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;
using Significance = Comparison::Significance;

namespace {

const Comparison& of(const Table& table, const std::string& attention) {
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    if (table.rows[r][0] == attention) return table.cell(r, 0, 0).comparison();
  throw std::runtime_error("no row " + attention);
}

}  // namespace

TEST_CASE("rows that are significantly better or worse than the reference row are marked, after Holm's correction") {
  auto noise = kEight;
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] += i % 2 == 0 ? 0.5 : -0.5;
  const Study study({{"softmax", kEight}, {"above", plus(kEight, 2)}, {"below", plus(kEight, -1)}, {"same", noise}});
  const auto table = study.table({"attention=softmax"});
  CHECK(of(table, "softmax").significance == Significance::kReference);
  CHECK(of(table, "above").significance == Significance::kBetter);
  CHECK(of(table, "below").significance == Significance::kWorse);
  CHECK(of(table, "same").significance == Significance::kNotSignificant);
  CHECK(of(table, "above").value == Approx(2));
  CHECK(of(table, "above").low == Approx(2));
  CHECK(of(table, "above").p == Approx(1.0 / 128));
  CHECK(of(table, "above").p_holm == Approx(3.0 / 128));
  CHECK(of(table, "above").paired);
  CHECK(notes(table,
              "* better, - worse than attention=softmax, at 5 % over 3 comparisons (Holm); n = 8 seeds, which vary the initial "
              "weights and the order of training, not the data; paired by seed: t interval, sign-flip test; p exact"));
  const auto text = to_text(table, Format::kText);
  CHECK(has(text, "difference to attention=softmax"));
  CHECK(has(text, " *  "));
  // For a metric with direction min, less is better.
  CHECK(of(study.table({"attention=softmax"}, {"train/step_time"}), "above").significance == Significance::kBetter);
  const auto csv = to_text(table, Format::kCsv);
  CHECK(has(csv, "difference,low,high,p,p_holm,significance\n"));
  CHECK(has(csv, ",better\n"));
}

TEST_CASE("without --against no cell is marked; with --against, separate tests decide which cells are bold or underlined") {
  const Study study({{"first", plus(kEight, 4)}, {"second", plus(kEight, 2)}, {"third", kEight}});
  for (const auto& cell : study.table({}).cells)
    CHECK_FALSE(
        (cell.is_marked(kBestMark) || cell.is_marked(kSecondMark) || cell.comparison().significance != Significance::kNone));
  const auto plain = to_text(study.table({}), Format::kMarkdown);
  CHECK_FALSE(has(plain, "**"));
  const auto marked_table = study.table({"attention=third"});
  CHECK(has(to_text(marked_table, Format::kMarkdown), "| first | **64.9 ± 1.4** *"));
  CHECK(has(to_text(marked_table, Format::kMarkdown), "<u>62.9 ± 1.4</u> *"));
  CHECK(has(to_text(marked_table, Format::kLatex), "\\underline{62.9 $\\pm$ 1.4} *"));
  // With three seeds, no difference is significant. The table has no mark, and a note says how many seeds are needed.
  const Study few({{"first", {90, 91, 92}}, {"second", {10, 11, 12}}});
  const auto table = few.table({"attention=second"});
  CHECK(of(table, "first").significance == Significance::kTooFew);
  CHECK_FALSE(has(to_text(table, Format::kMarkdown), "**"));
  CHECK(notes(table, "n = 3: no difference can be significant at 5 % over 1 comparison; 6 seeds could"));
}

TEST_CASE("--against best marks rows that do not differ significantly from the best row, and marks a significant lead") {
  auto close = plus(kEight, 1.9);
  close[0] += 3, close[1] -= 3;
  const Study tie({{"top", plus(kEight, 2)}, {"close", close}, {"low", kEight}});
  const auto table = tie.table({"best"});
  CHECK(of(table, "top").significance == Significance::kReference);
  CHECK(of(table, "close").significance == Significance::kNotSignificant);
  CHECK(of(table, "low").significance == Significance::kWorse);
  CHECK(has(to_text(table, Format::kText), " =  "));
  CHECK(notes(table, "chosen from these same numbers"));
  const Study lead({{"top", plus(kEight, 2)}, {"low", kEight}});
  CHECK(of(lead.table({"best"}), "top").significance == Significance::kBetter);
}

namespace {

/// Returns a table of rows drawn from a normal distribution. The first row is better by `lead` deviations.
Table drawn(std::size_t rows, int seeds, double lead, std::mt19937_64& random) {
  std::normal_distribution<double> noise(50, 1);
  Table table;
  table.row_paths = {"attention"}, table.columns = {{}}, table.column_values = {{}};
  auto& metric = table.metrics.emplace_back();
  metric.name = "test/accuracy", metric.direction = "max";
  for (std::size_t row = 0; row < rows; ++row) {
    table.rows.push_back({std::to_string(row)}), table.row_values.push_back({row});
    auto& cell = table.cells.emplace_back();
    cell.trials = seeds;
    for (int seed = 1; seed <= seeds; ++seed) cell.samples.push_back({seed, noise(random) + (row == 0 ? lead : 0)});
  }
  run_statistics({{"against", {kBest}}}, table);
  return table;
}

}  // namespace

TEST_CASE("among equal rows, at most 6 % of tables have a mark for the best, and a real lead is found") {
  std::mt19937_64 random(8);
  int marked = 0, found = 0;
  for (int draw = 0; draw < 2000; ++draw) {
    const auto table = drawn(6, 10, 0, random);
    if (draw == 0) CHECK(table.comparisons == 15);
    marked += std::any_of(table.cells.begin(), table.cells.end(), [](const Cell& cell) {
      return cell.is_marked(kBestMark) || cell.is_marked(kSecondMark) ||
             cell.comparison().significance == Significance::kWorse || cell.comparison().significance == Significance::kBetter;
    });
  }
  CHECK(marked <= 120);
  for (int draw = 0; draw < 100; ++draw) {
    const auto table = drawn(6, 12, 3, random);
    found += table.cells[0].comparison().significance == Significance::kBetter && table.cells[0].is_marked(kBestMark);
  }
  CHECK(found >= 95);
  CHECK(notes(drawn(6, 8, 9, random), "n = 8: no difference can be significant at 5 % over 15 comparisons; 11 seeds could"));
  CHECK(notes(drawn(6, 8, 9, random), "; --against PATH=VALUE makes 5 of these comparisons"));
}

TEST_CASE("the best row has its star only if it is better than every other row") {
  auto close = plus(kEight, 1.9);
  close[0] -= 3.9;  // seed 2 is above the best row at that seed, but the mean is below the second row's mean
  close[1] += 0.2;
  const Study study({{"top", plus(kEight, 2)}, {"second", plus(kEight, 1.8)}, {"third", close}});
  CHECK(of(study.table({"best"}), "second").significance == Significance::kWorse);
  CHECK(of(study.table({"best"}), "third").significance == Significance::kNotSignificant);
  CHECK(of(study.table({"best"}), "top").significance == Significance::kReference);
}

TEST_CASE("counts are not tested: fewer parameters get no star") {
  for (const auto kind : {MetricKind::kCount, MetricKind::kCost}) {
    Table table;
    table.row_paths = {"attention"}, table.columns = {{}}, table.column_values = {{}};
    table.rows = {{"small"}, {"large"}}, table.row_values = {{"small"}, {"large"}};
    auto& metric = table.metrics.emplace_back();
    metric.name = "model/parameters", metric.direction = "min", metric.kind = kind;
    for (const double value : {1000.0, 2000.0}) {
      auto& cell = table.cells.emplace_back();
      cell.trials = 8;
      for (int seed = 1; seed <= 8; ++seed) cell.samples.push_back({seed, value});
    }
    run_statistics({{"against", {"attention=large"}}}, table);
    CHECK(table.cell(0, 0, 0).comparison().significance ==
          (kind == MetricKind::kCount ? Significance::kNone : Significance::kBetter));
    CHECK(table.comparisons == (kind == MetricKind::kCount ? 0 : 1));
  }
}

TEST_CASE("notes name rows that are not tested and seeds without a partner; a cell over several settings shows their number") {
  const Study study({{"softmax", kEight},
                     {"dies", {90, -1, 91, 92, 93, 94, 95, 96}},
                     {"once", {99}},
                     {"late", {0, 0, 61, 62, 63, 64, 65, 66}}});
  const auto table = study.table({"attention=softmax"});
  CHECK(of(table, "dies").significance == Significance::kUntested);
  CHECK(of(table, "once").significance == Significance::kUntested);
  CHECK(of(table, "late").significance != Significance::kUntested);
  CHECK(notes(table, "not tested: numbers of dies include only seeds that survived"));
  CHECK(notes(table, "not tested: numbers of once come from one seed"));
  CHECK(notes(table, "because the other row lacks the seed: late less softmax: seeds 1, 2 of softmax"));

  Folder folder;
  Store store(folder / "a.db");
  std::vector<nlohmann::json> trials;
  for (const int pool : {1, 2})
    for (const int seed : {1, 2, 3}) {
      auto one = trial("mixed", {}, seed);
      one["train"]["learning_rate"] = pool * 0.1;
      trials.push_back(one);
    }
  put(store, "study", trials);
  for (std::size_t i = 0; i < trials.size(); ++i) store.put_attempt(done(trials[i], 50 + static_cast<double>(i)));
  const auto averaged = make_table(Reader(folder / "a.db"), {.experiments = {"study"}, .rows = {"attention"}});
  CHECK(averaged.cell(0, 0, 0).settings == 2);
  CHECK(has(to_text(averaged, Format::kText), "52.5 ± 1.0 (2 settings)"));
}

TEST_CASE("a row with a diverged seed is not tested") {
  auto broken = kEight;
  broken[2] = std::nan("");
  const Study study({{"softmax", kEight}, {"broken", broken}, {"other", plus(kEight, 1)}});
  const auto table = study.table({"attention=softmax"});
  CHECK(of(table, "broken").significance == Significance::kUntested);
  CHECK(std::isnan(of(table, "broken").value));
  CHECK(notes(table, "not tested: numbers of broken are not all finite"));
  CHECK(notes(study.table({"attention=softmax"}, {"test/accuracy", "train/step_time"}),
              "not tested: numbers of broken (test/accuracy, train/step_time) are not all finite"));
  const auto against = study.table({"attention=broken"});
  CHECK(of(against, "other").significance == Significance::kUntested);
  CHECK(std::isnan(of(against, "other").value));
  CHECK(notes(study.table({"best"}), "not tested: numbers of broken are not all finite"));
}

TEST_CASE("a row with the best mean is not marked as the best if it is worse on the shared seeds") {
  // "lucky" has the better mean only because of its own two seeds. It is worse on the eight shared seeds.
  auto lucky = plus(kEight, -1);
  lucky.insert(lucky.end(), {99, 99});
  const Study study({{"lucky", lucky}, {"steady", kEight}});
  const auto table = study.table({"best"});
  CHECK(of(table, "lucky").significance == Significance::kReference);
  CHECK(of(table, "steady").significance == Significance::kNotSignificant);
  for (const auto& cell : table.cells) CHECK_FALSE(cell.is_marked(kBestMark));
  CHECK(of(study.table({"attention=lucky"}), "steady").significance == Significance::kBetter);
}

TEST_CASE("a column may be the reference, and batch sizes decide how many test examples are used") {
  Folder folder;
  Store store(folder / "a.db");
  std::vector<nlohmann::json> trials;
  for (const int batch : {16, 32})
    for (int seed = 1; seed <= 8; ++seed) {
      auto one = trial("softmax", {}, seed);
      one["train"]["batch"] = batch;
      one["train"]["test_batches"] = 0;
      trials.push_back(one);
    }
  put(store, "whole", trials);
  for (std::size_t i = 0; i < trials.size(); ++i)
    store.put_attempt(done(trials[i], kEight[i % 8] + static_cast<double>(i / 8)));
  for (auto& one : trials) one["train"]["test_batches"] = 5;
  put(store, "part", trials);
  for (std::size_t i = 0; i < trials.size(); ++i)
    store.put_attempt(done(trials[i], kEight[i % 8] + static_cast<double>(i / 8)));
  const auto result_of = [&](const char* experiment) {
    TableRequest asked{
        .experiments = {experiment}, .rows = {"attention"}, .columns = {"train.batch"}, .metrics = {"test/accuracy"}};
    asked.statistics["against"] = {"train.batch=16"};
    return make_table(Reader(folder / "a.db"), asked).cell(0, 0, 1).comparison().significance;
  };
  CHECK(result_of("whole") == Significance::kBetter);
  CHECK(result_of("part") == Significance::kUntested);
}

TEST_CASE("rows with different test examples are not compared; a note reports data that vary by seed") {
  Folder folder;
  Store store(folder / "a.db");
  std::vector<nlohmann::json> trials;
  for (const auto* attention : {"softmax", "linear", "short"})
    for (int seed = 1; seed <= 8; ++seed) {
      auto one = trial(attention, {}, seed);
      one["train"]["test_batches"] = *attention == 's' && attention[1] == 'h' ? 5 : 0;
      one["task"]["data_seed"] = seed + 100;
      trials.push_back(one);
    }
  put(store, "study", trials);
  for (std::size_t i = 0; i < trials.size(); ++i)
    store.put_attempt(done(trials[i], kEight[i % 8] + static_cast<double>(i / 8)));
  TableRequest asked{.experiments = {"study"}, .rows = {"attention"}, .metrics = {"test/accuracy"}};
  asked.statistics["against"] = {"attention=softmax"};
  const auto table = make_table(Reader(folder / "a.db"), asked);
  CHECK(of(table, "linear").significance == Significance::kBetter);
  CHECK(of(table, "short").significance == Significance::kUntested);
  CHECK(notes(table, "not tested: numbers of short come from other tasks or test examples than the reference's"));
  CHECK(notes(table, "which vary the initial weights and the order of training and the data"));
}

TEST_CASE("the best row is chosen among the rows with the same task") {
  Folder folder;
  Store store(folder / "a.db");
  std::vector<nlohmann::json> trials;
  for (const int pool : {2, 4})
    for (const auto* attention : {"linear", "softmax"})
      for (int seed = 1; seed <= 8; ++seed) {
        trials.push_back(trial(attention, {}, seed));
        trials.back()["task"]["pool"] = pool;
      }
  put(store, "study", trials);
  const double more[] = {0, 2, 10, 9};
  for (std::size_t i = 0; i < trials.size(); ++i) store.put_attempt(done(trials[i], kEight[i % 8] + more[i / 8]));
  TableRequest asked{.experiments = {"study"}, .rows = {"task.pool", "attention"}, .metrics = {"test/accuracy"}};
  asked.statistics["against"] = {"best"};
  const auto table = make_table(Reader(folder / "a.db"), asked);
  const Significance expected[] = {Significance::kWorse, Significance::kBetter, Significance::kBetter, Significance::kWorse};
  for (std::size_t r = 0; r < 4; ++r) CHECK(table.cell(r, 0, 0).comparison().significance == expected[r]);
}

TEST_CASE("an invalid reference is refused with the name of the option") {
  const Study study({{"softmax", kEight}, {"linear", kEight}});
  CHECK(has(error_of([&] { study.table({"attention=sofmax"}); }), "--against attention=sofmax: found no row that has it"));
  CHECK(has(error_of([&] { study.table({"attention=sofmax"}); }), "did you mean attention=softmax?"));
  CHECK(has(error_of([&] { study.table({"softmax"}); }),
            "--against softmax: expected PATH=VALUE, for example attention=softmax, or best"));
  CHECK(has(error_of([&] { study.table({"bets"}); }), "did you mean best?"));
  CHECK(has(error_of([&] {
              study.table({"best", "attention=softmax"});
            }),
            "--against best: found another --against beside it"));
  CHECK(has(error_of([&] {
              study.table({"attention=softmax", "attention=linear"});
            }),
            "found two values of attention (softmax and linear), expected one"));
}
