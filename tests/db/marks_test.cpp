// Marks of tables do not claim more than the numbers show: few seeds, no direction, digits, missing seeds.
#include <cmath>
#include <nlohmann/json.hpp>

#include "db/report/expression.h"
#include "db/report/inference/difference.h"
#include "db/report/printers.h"
#include "db/report/summary.h"
#include "tests/db/seeds_study.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;
using Significance = Comparison::Significance;

namespace {

/// Returns a table of one column, as make_table would return it.
Table table_of(const MetricInfo& metric, const std::vector<std::pair<std::string, std::vector<Sample>>>& rows) {
  Table table;
  table.row_paths = {"attention"}, table.columns = {{}}, table.column_values = {{}}, table.metrics = {metric};
  for (const auto& [label, samples] : rows) {
    table.rows.push_back({label}), table.row_values.push_back({label});
    auto& cell = table.cells.emplace_back();
    cell.trials = static_cast<int>(samples.size()), cell.samples = samples;
  }
  return table;
}

std::vector<Sample> seeded(const std::vector<double>& values, std::int64_t first = 1) {
  std::vector<Sample> samples;
  for (const double value : values) samples.push_back({first++, value});
  return samples;
}

const MetricInfo kAccuracy = {"test/accuracy", "%", "max", ""};

}  // namespace

TEST_CASE("three seeds are too few for the exact test, and the row shows this instead of p") {
  const std::vector<double> first = {90.5, 91.25, 92.75}, second = {88, 87.5, 90};
  const Study study({{"first", first}, {"second", second}});
  const auto exact = study.table({"attention=second"});
  const auto& cell = exact.cell(0, 0, 0).comparison();
  CHECK(cell.significance == Significance::kTooFew);
  CHECK(cell.untested == "n = 3 is too small for the exact test");
  CHECK(cell.value == Approx(3));
  CHECK(std::isnan(cell.p));
  CHECK(has(to_text(exact, Format::kMarkdown), " | n too small |"));
  CHECK(has(to_text(exact, Format::kCsv), ",,,too few seeds\n"));

  // python3 -c 'from scipy import stats; print(stats.ttest_rel([90.5, 91.25, 92.75], [88, 87.5, 90]))'
  auto by_t = study.table_with({{"against", {"attention=second"}}, {"test", {"t"}}});
  CHECK(by_t.cell(0, 0, 0).comparison().p == Approx(0.01582020673514536).epsilon(1e-10));
  CHECK(by_t.cell(0, 0, 0).comparison().significance == Significance::kBetter);
  CHECK(notes(by_t, "paired by seed: t interval, paired t test; p for normal differences"));
  CHECK_FALSE(notes(by_t, "no difference can be significant"));
  by_t = study.table_with({{"contrasts", {"attention=first", "attention=second"}}, {"test", {"t"}}});
  CHECK(by_t.pairs.at(0).difference().significance == Significance::kBetter);
  CHECK(has(error_of([&] { study.table_with({{"test", {"t"}}}); }), "--test: found neither --against nor --contrasts"));

  // Pairs without a spread allow no t test. Welch's test is for sides without common seeds:
  // python3 -c 'from scipy import stats; print(stats.ttest_ind([61.5, 60.25, 63, 62], [58, 64, 50.5], equal_var=False))'
  const Study even({{"first", {3, 4, 5}}, {"second", {1, 2, 3}}});
  const auto none = even.table_with({{"against", {"attention=second"}}, {"test", {"t"}}});
  CHECK(none.cell(0, 0, 0).comparison().significance == Significance::kUntested);
  CHECK(notes(none, "not tested: numbers of first differ from the reference's by the same number at each seed"));
  const auto welch = difference_of(seeded({61.5, 60.25, 63, 62}), seeded({58, 64, 50.5}, 11), true);
  CHECK_FALSE(welch.paired);
  CHECK(welch.p == Approx(0.39594373689686707).epsilon(1e-10));
  CHECK(welch.p > difference_of(seeded({61.5, 60.25, 63, 62}), seeded({58, 64, 50.5}, 11)).least_p);
}

TEST_CASE("rows with too few seeds are named, and rows with enough seeds are tested") {
  const Study study({{"softmax", kEight}, {"above", plus(kEight, 2)}, {"short", {61, 62, 63}}});
  const auto table = study.table({"attention=softmax"});
  CHECK(table.cell(0, 0, 0).comparison().significance == Significance::kBetter);
  CHECK(table.cell(1, 0, 0).comparison().significance == Significance::kTooFew);
  CHECK(notes(table, "not tested: numbers of short come from too few seeds for the exact test"));
}

TEST_CASE("a metric without a better direction is tested with a neutral mark, and untested rows are named") {
  const auto tested = [&](const MetricInfo& metric, const std::string& against) {
    auto table = table_of(metric, {{"a", seeded(kEight)}, {"b", seeded(plus(kEight, 1))}, {"c", seeded(plus(kEight, 1e-9))}});
    run_statistics({{"against", {against}}}, table);
    return table;
  };
  const MetricInfo span = {"attention/span", "", "", "", MetricKind::kCount, MetricOwner::kMethod};
  const auto neutral = tested(span, "attention=a");
  CHECK(neutral.cell(1, 0, 0).comparison().significance == Significance::kDiffers);
  CHECK(neutral.cell(1, 0, 0).comparison().p == Approx(1.0 / 128));
  CHECK(has(to_text(neutral, Format::kMarkdown), "| b | 61.9 ± 1.4 ≠ |"));
  CHECK(has(to_text(neutral, Format::kLatex), "$\\neq$"));
  CHECK(has(to_text(neutral, Format::kCsv), ",differs\n"));
  CHECK(notes(neutral, "; ≠ differs (the metric has no direction), at 5 % over 2 comparisons"));
  CHECK(notes(tested(span, "best"), "not tested: attention/span: without a direction there is no best"));
  const auto count = tested({"model/parameters", "", "min", "", MetricKind::kCount, MetricOwner::kHost}, "attention=a");
  CHECK(count.cell(1, 0, 0).comparison().significance == Significance::kNone);
  CHECK(notes(count, "not tested: model/parameters: a count"));
  CHECK_FALSE(notes(tested(kAccuracy, "attention=a"), "≠"));
}

TEST_CASE("a difference below the visible digits has no mark, and shows its p") {
  auto table = table_of(kAccuracy, {{"a", seeded(kEight)}, {"b", seeded(plus(kEight, 0.001))}, {"c", seeded(plus(kEight, 3))}});
  run_statistics({{"against", {"attention=a"}}}, table);
  CHECK(table.cell(1, 0, 0).comparison().significance == Significance::kBetter);
  const auto text = to_text(table, Format::kMarkdown);
  CHECK(has(text, "| b | 60.9 ± 1.4 | 0.0 [0.0, 0.0] | 0.0078 |"));
  CHECK(has(text, "| c | **63.9 ± 1.4** * |"));
  // If the two best rows show the same number, the text marks neither of them.
  auto close = table_of(kAccuracy, {{"a", seeded(kEight)}, {"b", seeded(plus(kEight, 0.001))}});
  run_statistics({{"against", {kBest}}}, close);
  CHECK(close.cell(1, 0, 0).is_marked(kBestMark));
  CHECK(close.cell(1, 0, 0).comparison().significance == Significance::kBetter);
  const auto shown = to_text(close, Format::kMarkdown);
  CHECK_FALSE(has(shown, "**"));
  CHECK_FALSE(has(shown, "*\n"));
  CHECK_FALSE(has(shown, "± 1.4 -"));
  CHECK(has(shown, "0.0078"));
}

TEST_CASE("values without seeds are not counted as seeds in any note") {
  const auto bare = [](const std::vector<double>& values) {
    std::vector<Sample> samples;
    for (const double value : values) samples.push_back({std::nullopt, value});
    return samples;
  };
  auto table = table_of(kAccuracy, {{"a", bare(kEight)}, {"b", bare(plus(kEight, 9))}, {"c", bare({50})}});
  run_statistics({{"against", {"attention=a"}}}, table);
  CHECK(notes(table, "n = 8 values; no seeds: Welch's interval, permutation test"));
  CHECK(notes(table, "not tested: numbers of c are single values"));
  for (const auto& note : table.notes) CHECK((!has(note, "seed") || has(note, "no seeds:")));
  auto few = table_of(kAccuracy, {{"a", bare({1, 2})}, {"b", bare({3, 4})}});
  run_statistics({{"against", {"attention=a"}}}, few);
  CHECK(notes(few, "n = 2: no difference can be significant at 5 % over 1 comparison"));
  for (const auto& note : few.notes) CHECK_FALSE(has(note, "seeds could"));
}

TEST_CASE("seeds without a partner are listed for each comparison") {
  auto table = table_of(kAccuracy, {{"a", seeded(kEight)}, {"b", seeded(kEight, 3)}, {"c", seeded({1, 2, 3, 4, 5, 6, 7})}});
  run_statistics({{"against", {"attention=a"}}}, table);
  CHECK(notes(table,
              "left out of the differences, because the other row lacks the seed: b less a: seeds 9, 10 of b, seeds 1, 2 of a; "
              "c less a: seed 8 of "
              "a"));
}

TEST_CASE("equal values have no deviation, and sums that differ only by rounding share a rank") {
  for (const std::size_t n : {3U, 7U, 10U}) {
    const auto summary = summary_of(seeded(std::vector<double>(n, 28.6)));
    CHECK(summary.deviation == 0);
    CHECK(summary.mean == 28.6);
  }
  CHECK(summary_of(seeded({1, 1 + 1e-15, 1})).deviation == 0);
  CHECK(summary_of(seeded({1, 1 + 1e-12, 1})).deviation > 0);
  const std::vector<double> x = {0.1 + 0.2, 0.3, 0.5, 0.1};
  const auto ranks = Expression("rank(x)").values(4, [&](const std::string&) -> const std::vector<double>& { return x; });
  CHECK((ranks == std::vector<double>{2.5, 2.5, 4, 1}));
}

TEST_CASE("infinity is inf in every format of a table, and NaN is not inf") {
  auto table = table_of(kAccuracy, {{"a", seeded({INFINITY, INFINITY})}, {"b", seeded({1, -INFINITY})}, {"c", seeded({NAN})}});
  run_statistics({}, table);
  const auto text = to_text(table, Format::kMarkdown);
  for (const auto* row : {"| a | inf", "| b | -inf", "| c | nan"}) CHECK(has(text, row));
  const auto csv = to_text(table, Format::kCsv);
  for (const auto* row : {"a,test/accuracy,%,inf,", "b,test/accuracy,%,-inf,", "c,test/accuracy,%,nan,"}) CHECK(has(csv, row));
  const auto cells = nlohmann::json::parse(to_text(table, Format::kJson))["cells"];
  CHECK(cells[0]["mean"] == "inf");
  CHECK(cells[1]["samples"][1][1] == "-inf");
  CHECK(cells[2]["mean"].is_null());  // JSON has no NaN
}

TEST_CASE("an untested difference has a reason: no spread for a t test, or no number of the reference") {
  const std::vector<Sample> five(3, {std::nullopt, 5}), six(3, {std::nullopt, 6});
  auto alike = table_of(kAccuracy, {{"five", five}, {"six", six}});
  run_statistics({{"against", {"attention=five"}}, {"test", {"t"}}}, alike);
  CHECK(alike.cells[1].comparison().significance == Significance::kUntested);
  CHECK(notes(alike, "numbers of six are all alike, and so are the reference's: without a spread there is no t test"));
  auto none = table_of(kAccuracy, {{"none", {}}, {"five", five}, {"six", six}});
  run_statistics({{"against", {"attention=none"}}}, none);
  CHECK(none.cells[1].comparison().significance == Significance::kUntested);
  CHECK(notes(none, "numbers of five, six have no reference: the reference has no value there"));
}
