// Compares tests, intervals, corrections and power with results that were counted by hand. peers_test.cpp compares them with
// results of other programs.
#include <cmath>

#include "db/report/inference/difference.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/permutation.h"
#include "db/report/inference/power.h"
#include "tests/db/draws.h"
#include "tests/support/catch.h"

using namespace ablate::db;

TEST_CASE("p of sign flips and of splits equals p counted by hand") {
  CHECK(sign_flip_test(std::vector{1.0, 2.0, 3.0}).p == 0.25);  // 2 of the 8 sums, 6 and -6, are as far from 0 as 6
  CHECK(sign_flip_test(std::vector{1.0, 1.0, 1.0, 1.0}).p == 0.125);
  CHECK(sign_flip_test(std::vector{1.0, -1.0}).p == 1);
  CHECK(sign_flip_test(std::vector{0.0, 0.0, 0.0}).p == 1);
  CHECK(sign_flip_test(std::vector{0.1, 0.2, 0.3, -0.6}).p == 1);  // a tie by rounding
  CHECK(split_test(std::vector{4.0, 5.0, 6.0}, std::vector{1.0, 2.0, 3.0}).p == Approx(2.0 / 20));
  CHECK(split_test(std::vector{1.0}, std::vector{1.0}).p == 1);
  for (std::size_t n = 1; n < 12; ++n) {
    const std::vector<double> alike(n, 0.5);
    CHECK(sign_flip_test(alike).p == least_paired_p(n));
  }
  CHECK(least_unpaired_p(5, 5) == Approx(2.0 / 252));
}

TEST_CASE("differences of scores are tied if they differ only by the rounding of the scores") {
  // Scores are percentages of 10,000 answers; a and b are counts of right answers. p is counted over all signs: d = a - b and
  // s = numpy.array(list(itertools.product([1, -1], repeat=8))) @ d; 2 * min((s >= d.sum()).mean(), (s <= d.sum()).mean())
  const struct {
    std::vector<int> a, b;
    double p;
  } counted[] = {
      {{8531, 8530, 8533, 8528, 8534, 8529, 8532, 8530}, {8529, 8531, 8530, 8527, 8531, 8530, 8530, 8529}, 0.1015625},
      {{8530, 8532, 8531, 8529, 8533, 8530, 8528, 8531}, {8529, 8530, 8531, 8530, 8531, 8528, 8529, 8530}, 0.21875}};
  for (const auto& one : counted) {
    std::vector<Sample> a, b;
    for (std::size_t i = 0; i < one.a.size(); ++i) {
      a.push_back({static_cast<std::int64_t>(i), 100.0 * one.a[i] / 10'000});
      b.push_back({static_cast<std::int64_t>(i), 100.0 * one.b[i] / 10'000});
    }
    CHECK(difference_of(a, b).p == one.p);
  }
}

TEST_CASE("differences that are equal up to rounding have no deviation and no t test") {
  std::vector<Sample> a, b;
  for (int seed = 1; seed <= 8; ++seed) b.push_back({seed, 59.0 + seed}), a.push_back({seed, b.back().value + 0.1});
  const auto found = difference_of(a, b, true);
  CHECK(found.value == Approx(0.1));
  CHECK(found.deviation == 0);
  CHECK_FALSE(found.tested());
  CHECK(difference_of(a, b).p == 2.0 / 256);
  a[0].value += 0.01;
  CHECK(difference_of(a, b, true).p < 1e-6);
}

TEST_CASE("if there are too many arrangements, they are drawn with a fixed seed") {
  Draws draws(7);
  const auto a = draws.values(30, 250), b = draws.values(30, 0);
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  const auto drawn = sign_flip_test(differences), again = sign_flip_test(differences);
  CHECK_FALSE(drawn.exact);
  CHECK(drawn.p == again.p);
  CHECK(drawn.p > 0);
  // 100,000 draws approximate the result of all 2^20 flips of the first twenty differences.
  const std::vector<double> few(differences.begin(), differences.begin() + 20);
  auto doubled = few;
  doubled.push_back(0);  // changes no sum, but there are too many values for all flips
  const auto exact = sign_flip_test(few), almost = sign_flip_test(doubled);
  CHECK(exact.exact);
  CHECK_FALSE(almost.exact);
  CHECK(almost.p == Approx(exact.p).margin(5 * std::sqrt(exact.p / kDraws) + 1e-4));
  const auto split = split_test(a, b);
  CHECK_FALSE(split.exact);
  CHECK(split.p == Approx(sign_flip_test(differences).p).margin(0.05));
}

TEST_CASE("pairs are formed by seed, and seeds without a partner are named") {
  const std::vector<Sample> a = {{1, 10}, {2, 20}, {3, 30}, {5, 7}}, b = {{3, 31}, {2, 19}, {1, 12}, {4, 100}};
  const auto found = difference_of(a, b);
  CHECK(found.paired);
  CHECK(found.n == 3);
  CHECK(found.value == Approx((-2 + 1 - 1) / 3.0));
  CHECK(found.only_a == std::vector<std::int64_t>{5});
  CHECK(found.only_b == std::vector<std::int64_t>{4});
  // One common seed is too few for a paired test. With a single value on each side there is no test.
  CHECK_FALSE(difference_of(std::vector<Sample>{{1, 1}, {2, 2}}, std::vector<Sample>{{2, 1}, {3, 2}}).paired);
  CHECK_FALSE(difference_of(std::vector<Sample>{{1, 1}}, std::vector<Sample>{{1, 2}}).tested());
  const auto broken = difference_of(std::vector<Sample>{{1, 1}, {2, std::nan("")}}, std::vector<Sample>{{1, 2}, {2, 3}});
  CHECK_FALSE(broken.tested());
  // With only one common seed, the values are two independent samples. Values whose squares overflow have no interval.
  const auto huge = difference_of(std::vector<Sample>{{1, 1e200}, {2, -1e200}}, std::vector<Sample>{{2, 1e180}, {3, -1e200}});
  CHECK_FALSE(huge.paired);
  CHECK(huge.tested());
  CHECK(std::isnan(huge.low));
  CHECK(std::isnan(broken.low));
}

TEST_CASE("the number of seeds that a significant difference needs") {
  // Counted with all 2^n signs of 20,000 NumPy samples (6,000 for n = 15). If a sample reaches the level only when
  // all its differences have the same sign, the power is Phi(effect)^n.
  const struct {
    double effect;
    int n;
    double level, power;
  } counted[] = {{1.6, 8, 0.01, 0.638},     {1.92, 8, 0.01, 0.800}, {1.38, 10, 0.01, 0.795}, {1, 12, 0.05 / 6, 0.592},
                 {1, 10, 0.05, 0.796},      {0.8, 12, 0.05, 0.709}, {0.8, 15, 0.05, 0.816},  {2, 11, 0.05 / 35, 0.775},
                 {2, 12, 0.05 / 35, 0.909}, {3, 10, 0.05 / 35, 0}};
  for (const auto& one : counted) CHECK(sign_flip_power(one.effect, one.n, one.level) == Approx(one.power).margin(0.015));
  CHECK(least_effect(8, 0.01) == Approx(1.92).margin(0.01));
  CHECK(least_effect(10, 0.01) == Approx(1.38).margin(0.02));
  CHECK(fewest_seeds_text(35) == "35 comparisons, which need 11 seeds");
  // A large effect needs only as many seeds as the exact test needs to reach the level.
  CHECK(seeds_for(3, 0.05) == 6);
  CHECK(seeds_for(2, 0.05 / 6) == 8);
  CHECK(sign_flip_power(least_effect(8, 0.05), 8, 0.05) == Approx(kPower).margin(1e-3));
  CHECK(std::isinf(least_effect(5, 0.05)));
  for (const double effect : {0.05, 0.2, 0.7}) {
    const int n = seeds_for(effect, 0.01);
    CHECK(sign_flip_power(effect, n, 0.01) >= kPower);
    CHECK(sign_flip_power(effect, n - 1, 0.01) < kPower);
  }
  CHECK(seeds_for(1e-3, 0.05) == 0);
  // statsmodels: TTestPower().solve_power(nobs=8, alpha=0.01, power=0.8), and solve_power(1, alpha=0.01, power=0.8) = 15.08
  CHECK(least_effect(8, 0.01, true) == Approx(1.595896).margin(1e-5));
  CHECK(seeds_for(1, 0.01, true) == 16);
  CHECK(least_effect(3, 0.05, true) == Approx(3.264044).margin(1e-5));
  CHECK(nothing_significant_text(3, 6) ==
        "n = 3: no difference can be significant at 5 % over 6 comparisons; 8 seeds could show a difference, in 80 % of cases, "
        "if it is at least 2 deviations of the paired differences");
}
