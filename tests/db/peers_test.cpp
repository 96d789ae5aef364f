// Compares every statistic of a table with SciPy, statsmodels and autorank. tests/peers lists their functions, and makes the
// two files of numbers that are read here.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "db/report/inference/difference.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/permutation.h"
#include "db/report/inference/power.h"
#include "db/report/statistics.h"
#include "tests/db/draws.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

std::vector<std::string> fields_of(const std::string& text, char between) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, between);) all.push_back(one);
  return all;
}

/// Values of one line of a fixture, by the names of the columns.
using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const std::string& name, std::size_t expected) {
  std::ifstream in(std::string(ABLATE_SOURCE_DIR) + "/tests/db/" + name);
  std::string line;
  std::getline(in, line), std::getline(in, line);  // the first line names the program that wrote the file
  const auto names = fields_of(line, ',');
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const auto fields = fields_of(line, ',');
    REQUIRE(fields.size() == names.size());
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = fields[i];
  }
  REQUIRE(rows.size() == expected);
  return rows;
}

/// Compares p-values to 1e-10 absolutely, and other numbers relative to their size.
void check_p(double found, const std::string& expected) { CHECK(std::abs(found - std::stod(expected)) <= 1e-10); }
void check(double found, const std::string& expected) {
  CHECK(std::abs(found - std::stod(expected)) <= 1e-10 * std::abs(std::stod(expected)));
}
/// Compares an interval's end relative to the larger of both ends, because the end itself may be near 0.
void check_end(double found, const Row& row, const char* end, const char* low, const char* high) {
  const double low_end = std::stod(row.at(low)), high_end = std::stod(row.at(high));
  CHECK(std::abs(found - std::stod(row.at(end))) <= 1e-10 * std::max(std::abs(low_end), std::abs(high_end)));
}

/// @param first the seed of the first value
std::vector<Sample> samples(const std::vector<double>& values, std::int64_t first) {
  std::vector<Sample> all;
  for (const double value : values) all.push_back({first++, value});
  return all;
}

/// Makes the same cells as statistics.py: three rows, with a column for each size. The first cells of rows 1 and 3 are equal.
Table table_of(Draws& draws) {
  Table table{.row_paths = {"attention"}, .column_paths = {"task.length"}};
  const auto columns = 5 + draws.whole(3), seeds = 5 + draws.whole(3);
  std::uint64_t size = 0;
  for (std::uint64_t c = 0; c < columns; ++c) {
    size += 1 + draws.whole(500);
    table.columns.push_back({std::to_string(size)}), table.column_values.push_back({size});
  }
  for (const char* name : {"a", "b", "c"}) {
    table.rows.push_back({name}), table.row_values.push_back({name});
    for (std::uint64_t c = 0; c < columns; ++c) {
      const auto shift = 1 + draws.whole(900);
      table.cells.emplace_back().samples = samples(draws.values(seeds, shift), 1);
    }
  }
  table.cells[2 * columns] = table.cells[0];
  table.metrics.emplace_back().name = "train/loss";
  return table;
}

}  // namespace

TEST_CASE("tests, power and Holm's correction of 1,000 random tables equal SciPy's and statsmodels' results") {
  for (const auto& row : rows_of("statistics.csv", 1000)) {
    INFO("seed " << row.at("seed"));
    Draws draws(std::stoull(row.at("seed")));
    const auto n = 3 + draws.whole(7), m = 3 + draws.whole(5);
    const auto shift = draws.whole(900);
    const auto a = draws.values(n, shift), b = draws.values(n, 0), c = draws.values(m, 0);
    const auto pairs = difference_of(samples(a, 1), samples(b, 1));
    REQUIRE(pairs.paired);
    check(pairs.value, row.at("paired"));
    check_end(pairs.low, row, "paired_low", "paired_low", "paired_high");
    check_end(pairs.high, row, "paired_high", "paired_low", "paired_high");
    check_p(pairs.p, row.at("paired_p"));
    const std::vector<double> first(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(n, 6)));
    const auto sides = difference_of(samples(first, 1), samples(c, 100));
    REQUIRE_FALSE(sides.paired);
    check(sides.value, row.at("sides"));
    check_end(sides.low, row, "low", "low", "high");
    check_end(sides.high, row, "high", "low", "high");
    check_p(sides.p, row.at("p"));
    std::vector<double> family;
    for (auto left = 2 + draws.whole(9); left > 0; --left) family.push_back(static_cast<double>(draws.whole(1000)) / 5000);
    const auto adjusted = holm(family);
    const auto expected = fields_of(row.at("holm"), ' ');
    REQUIRE(adjusted.size() == expected.size());
    for (std::size_t i = 0; i < adjusted.size(); ++i) check_p(adjusted[i], expected[i]);
    const double effect = 0.5 + static_cast<double>(draws.whole(30)) / 10,
                 level = 0.05 / static_cast<double>(1 + draws.whole(10));
    check_p(paired_power(effect, static_cast<int>(n), level), row.at("power"));
  }
}

TEST_CASE("means, intervals, ratios, exponents and ranks of 1,000 random tables equal results of statsmodels and autorank") {
  for (const auto& row : rows_of("statistics.csv", 1000)) {
    INFO("seed " << row.at("seed"));
    Draws draws(std::stoull(row.at("seed")));
    const auto skip = [&](std::uint64_t count) {  // skips numbers that the test above draws
      while (count-- > 0) draws.whole(1);
    };
    const auto n = 3 + draws.whole(7), m = 3 + draws.whole(5);
    skip(1 + 2 * n + m);
    skip(2 + draws.whole(9));
    skip(2);
    auto table = table_of(draws);
    auto intervals = table, overlaps = table;
    run_statistics({{"exponent", {}}, {"baseline", {"attention=b"}}, {"derive", {"order = rank(train/loss)"}}}, table);
    const auto& cell = table.cell(0, 0, 0);
    check(cell.mean, row.at("mean"));
    check(cell.deviation, row.at("deviation"));
    check(cell.number("ratio"), row.at("ratio"));
    check(cell.number("ratio_uncertainty"), row.at("ratio_uncertainty"));
    REQUIRE_FALSE(table.row_facts.empty());
    check(table.row_facts[0].value, row.at("exponent"));
    check(table.row_facts[0].uncertainty, row.at("exponent_uncertainty"));
    double ranks = 0;
    for (std::size_t c = 0; c < table.columns.size(); ++c) ranks += table.cell(0, 1, c).mean;
    check(ranks / static_cast<double>(table.columns.size()), row.at("rank"));
    run_statistics({{"interval", {"0"}}}, intervals);
    check(intervals.cells[0].number("interval"), row.at("half"));
    run_statistics({{"interval", {fmt::format("{}", 1.0 / (cell.n - 1))}}}, overlaps);
    check(overlaps.cells[0].number("interval"), row.at("half_of_splits"));
  }
}

TEST_CASE("drawn flips and splits have the same p as SciPy with the same 100,000 draws") {
  for (const auto& row : rows_of("statistics_drawn.csv", 8)) {
    INFO("seed " << row.at("seed"));
    Draws draws(std::stoull(row.at("seed")));
    const auto n = 21 + draws.whole(60), a = 11 + draws.whole(10), b = 13 + draws.whole(10);
    auto d = draws.values(n, 0);
    const auto less = draws.values(n, 0);
    const double more = static_cast<double>(draws.whole(200)) / 1024;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] += more - less[i];
    const auto shift = draws.whole(300);
    const auto one = draws.values(a, shift), other = draws.values(b, 0);
    const auto flips = sign_flip_test(d), splits = split_test(one, other);
    CHECK_FALSE(flips.exact);
    CHECK_FALSE(splits.exact);
    check_p(flips.p, row.at("flips"));
    check_p(splits.p, row.at("splits"));
  }
}
