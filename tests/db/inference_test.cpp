// Tests, intervals, corrections and power against SciPy and statsmodels (tests/peers/statistics.py), and against counting by
// hand.
#include <cmath>
#include <sstream>

#include "db/report/inference/difference.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/permutation.h"
#include "db/report/inference/power.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate::db;

namespace {

/// Of tests/peers/statistics.py, number by number.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::uint64_t whole(std::uint64_t below) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % below;
  }
  std::vector<double> values(std::uint64_t count, std::uint64_t shift) {
    std::vector<double> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(static_cast<double>(whole(1025) + shift) / 1024);
    return all;
  }

 private:
  std::uint64_t state_;
};

/// @param first the seed of the first value
std::vector<Sample> samples(const std::vector<double>& values, std::int64_t first) {
  std::vector<Sample> all;
  for (const double value : values) all.push_back({first++, value});
  return all;
}

std::vector<double> numbers(const std::string& text, char between) {
  std::vector<double> all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, between);) all.push_back(std::stod(one));
  return all;
}

/// p-values to 1e-10 themselves, other numbers relative to their size.
bool near(double found, double expected, double scale = 1) {
  return std::abs(found - expected) <= 1e-10 * std::max(scale, std::abs(expected));
}

}  // namespace

TEST_CASE("1,000 random tables are as SciPy and statsmodels have them") {
  std::ifstream in(std::filesystem::path(ABLATE_SOURCE_DIR) / "tests/db/statistics.csv");
  std::string line;
  std::getline(in, line), std::getline(in, line);
  int tables = 0;
  for (; std::getline(in, line); ++tables) {
    INFO(line);
    std::vector<std::string> fields;
    std::istringstream row(line);
    for (std::string field; std::getline(row, field, ',');) fields.push_back(field);
    REQUIRE(fields.size() == 9);
    Draws draws(std::stoull(fields[0]));
    const auto n = 3 + draws.whole(7), m = 3 + draws.whole(5);
    const auto shift = draws.whole(900);
    const auto a = draws.values(n, shift), b = draws.values(n, 0), c = draws.values(m, 0);
    const auto pairs = difference_of(samples(a, 1), samples(b, 1));
    REQUIRE(pairs.paired);
    CHECK(near(pairs.low, std::stod(fields[1])));
    CHECK(near(pairs.high, std::stod(fields[2])));
    CHECK(near(pairs.p, std::stod(fields[3])));
    const std::vector<double> first(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(n, 6)));
    const auto sides = difference_of(samples(first, 1), samples(c, 100));
    REQUIRE_FALSE(sides.paired);
    CHECK(near(sides.low, std::stod(fields[4])));
    CHECK(near(sides.high, std::stod(fields[5])));
    CHECK(near(sides.p, std::stod(fields[6])));
    std::vector<double> family;
    for (auto left = 2 + draws.whole(9); left > 0; --left) family.push_back(static_cast<double>(draws.whole(1000)) / 5000);
    const auto adjusted = holm(family), expected = numbers(fields[7], ' ');
    REQUIRE(adjusted.size() == expected.size());
    for (std::size_t i = 0; i < adjusted.size(); ++i) CHECK(near(adjusted[i], expected[i]));
    const double effect = 0.5 + static_cast<double>(draws.whole(30)) / 10,
                 level = 0.05 / static_cast<double>(1 + draws.whole(10));
    CHECK(near(paired_power(effect, static_cast<int>(n), level), std::stod(fields[8])));
  }
  CHECK(tables == 1000);
}

TEST_CASE("sign flips and splits are counted as by hand") {
  CHECK(sign_flip_test(std::vector{1.0, 2.0, 3.0}).p == 0.25);  // of 8 sums 6 and -6 are as far
  CHECK(sign_flip_test(std::vector{1.0, 1.0, 1.0, 1.0}).p == 0.125);
  CHECK(sign_flip_test(std::vector{1.0, -1.0}).p == 1);
  CHECK(sign_flip_test(std::vector{0.0, 0.0, 0.0}).p == 1);
  CHECK(sign_flip_test(std::vector{0.1, 0.2, 0.3, -0.6}).p == 1);  // a tie of rounding
  CHECK(split_test(std::vector{4.0, 5.0, 6.0}, std::vector{1.0, 2.0, 3.0}).p == Approx(2.0 / 20));
  CHECK(split_test(std::vector{1.0}, std::vector{1.0}).p == 1);
  for (std::size_t n = 1; n < 12; ++n) {
    const std::vector<double> alike(n, 0.5);
    CHECK(sign_flip_test(alike).p == least_paired_p(n));
  }
  CHECK(least_unpaired_p(5, 5) == Approx(2.0 / 252));
}

TEST_CASE("where arrangements are too many they are drawn, by the same seed each time") {
  Draws draws(7);
  const auto a = draws.values(30, 250), b = draws.values(30, 0);
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  const auto drawn = sign_flip_test(differences), again = sign_flip_test(differences);
  CHECK_FALSE(drawn.exact);
  CHECK(drawn.p == again.p);
  CHECK(drawn.p > 0);
  // As far as 100,000 draws tell, what all 2^20 flips of the first twenty say.
  const std::vector<double> few(differences.begin(), differences.begin() + 20);
  auto doubled = few;
  doubled.push_back(0);  // changes no sum, and makes them too many
  const auto exact = sign_flip_test(few), almost = sign_flip_test(doubled);
  CHECK(exact.exact);
  CHECK_FALSE(almost.exact);
  CHECK(almost.p == Approx(exact.p).margin(5 * std::sqrt(exact.p / kDraws) + 1e-4));
  const auto split = split_test(a, b);
  CHECK_FALSE(split.exact);
  CHECK(split.p == Approx(sign_flip_test(differences).p).margin(0.05));
}

TEST_CASE("pairs are formed by seed, and who has no partner is named") {
  const std::vector<Sample> a = {{1, 10}, {2, 20}, {3, 30}, {5, 7}}, b = {{3, 31}, {2, 19}, {1, 12}, {4, 100}};
  const auto found = difference_of(a, b);
  CHECK(found.paired);
  CHECK(found.n == 3);
  CHECK(found.value == Approx((-2 + 1 - 1) / 3.0));
  CHECK(found.only_a == std::vector<std::int64_t>{5});
  CHECK(found.only_b == std::vector<std::int64_t>{4});
  // One common seed makes no pairs; one value tells nothing of chance.
  CHECK_FALSE(difference_of(std::vector<Sample>{{1, 1}, {2, 2}}, std::vector<Sample>{{2, 1}, {3, 2}}).paired);
  CHECK_FALSE(difference_of(std::vector<Sample>{{1, 1}}, std::vector<Sample>{{1, 2}}).tested());
  const auto broken = difference_of(std::vector<Sample>{{1, 1}, {2, std::nan("")}}, std::vector<Sample>{{1, 2}, {2, 3}});
  CHECK_FALSE(broken.tested());
  // One seed of both sides alone makes two samples; values beyond what their squares can hold make no interval.
  const auto huge = difference_of(std::vector<Sample>{{1, 1e200}, {2, -1e200}}, std::vector<Sample>{{2, 1e180}, {3, -1e200}});
  CHECK_FALSE(huge.paired);
  CHECK(huge.tested());
  CHECK(std::isnan(huge.low));
  CHECK(std::isnan(broken.low));
}

TEST_CASE("how many seeds a difference needs") {
  // 80 % power of a paired t test at 5 % and at 0.5 % (SciPy's nct).
  const std::pair<double, int> usual[] = {{1, 10}, {1.5, 6}}, strict[] = {{1, 18}, {1.5, 10}};
  for (const auto& [effect, n] : usual) CHECK(seeds_for(effect, 0.05) == n);
  for (const auto& [effect, n] : strict) CHECK(seeds_for(effect, 0.005) == n);
  // Large effects need as many as the exact test does to reach the level at all.
  CHECK(seeds_for(3, 0.05) == 6);
  CHECK(seeds_for(2, 0.05 / 6) == 8);
  CHECK(paired_power(least_effect(8, 0.05), 8, 0.05) == Approx(kPower));
  CHECK(std::isinf(least_effect(5, 0.05)));
  for (const double effect : {0.05, 0.2, 0.7}) {
    const int n = seeds_for(effect, 0.01);
    CHECK(paired_power(effect, n, 0.01) >= kPower);
    CHECK(paired_power(effect, n - 1, 0.01) < kPower);
  }
  CHECK(seeds_for(1e-3, 0.05) == 0);
  CHECK(nothing_told_text(3, 6) ==
        "n = 3: nothing can be told at 5 % over 6 comparisons; 8 seeds could, in 80 % of cases, if a difference is at least 2 "
        "deviations of the paired differences");
}
