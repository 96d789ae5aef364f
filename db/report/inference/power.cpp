#include "db/report/inference/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "db/report/inference/holm.h"
#include "db/report/inference/permutation.h"

namespace ablate::db {
namespace {

constexpr int kMostSeeds = 10'000;
constexpr double kUsualEffect = 2;
constexpr int kSamples = 10'000;
constexpr double kMostTail = 500;  ///< limit for counted choices of signs; above it, the t test has the same power within 1 %

/// Exact test of n paired differences at one level, and how often it finds an effect.
class FlipTest {
 public:
  FlipTest(int n, double level) : n_(n), level_(level), tail_(std::floor(std::ldexp(level, n - 1) * (1 + 1e-12))) {
    if (tail_ < 2 || tail_ > kMostTail) return;
    std::mt19937_64 random(20261129);
    std::normal_distribution<double> normal;
    samples_.assign(kSamples, std::vector<double>(static_cast<std::size_t>(n)));
    for (auto& sample : samples_) {
      for (auto& value : sample) value = normal(random);
      std::sort(sample.begin(), sample.end());
    }
  }

  double power(double effect) const {
    if (tail_ < 1) return 0;
    if (tail_ < 2) return std::pow(boost::math::cdf(boost::math::normal(), effect), n_);  // all signs agree
    if (tail_ > kMostTail) return paired_power(effect, n_, level_);
    const auto found = std::count_if(samples_.begin(), samples_.end(), [&](const auto& sample) {
      int room = static_cast<int>(tail_) - 1;  // without the observed signs
      return fits(sample, effect, 0, 0, room);
    });
    return static_cast<double>(found) / kSamples;
  }

 private:
  /// Counts down `room` for each set of differences with a sum of at most 0: flipping their signs gives a total of at least the
  /// observed sum. Returns false if there is no room for all sets. The differences are sorted: after a sum above 0, all further
  /// sums are above 0.
  static bool fits(const std::vector<double>& sample, double effect, std::size_t from, double sum, int& room) {
    for (; from < sample.size(); ++from) {
      const double next = sum + sample[from] + effect;
      if (next > 0) return true;
      if (--room < 0 || !fits(sample, effect, from + 1, next, room)) return false;
    }
    return true;
  }

  int n_;
  double level_;
  /// The test is significant if at most this number of choices of signs have a sum of at least the observed sum.
  double tail_;
  std::vector<std::vector<double>> samples_;  ///< standard normals, each sample in rising order
};

/// Returns the fewest pairs whose exact test can reach a level.
int fewest_seeds(double level) {
  int n = 2;
  while (least_paired_p(static_cast<std::size_t>(n)) > level) ++n;
  return n;
}

}  // namespace

double paired_power(double effect, int n, double level) {
  const double freedom = n - 1;
  const double t = boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), level / 2));
  const boost::math::non_central_t there(freedom, effect * std::sqrt(static_cast<double>(n)));
  return boost::math::cdf(boost::math::complement(there, t)) + boost::math::cdf(there, -t);
}

double sign_flip_power(double effect, int n, double level) { return FlipTest(n, level).power(effect); }

int seeds_for(double effect, double level, bool t_test) {
  int least = t_test ? 2 : fewest_seeds(level);
  const auto suffices = [&](int n) { return (t_test ? paired_power : sign_flip_power)(effect, n, level) >= kPower; };
  if (suffices(least)) return least;
  int most = 2 * least;  // more seeds never have less power
  while (most < kMostSeeds && !suffices(most)) least = most, most *= 2;
  most = std::min(most, kMostSeeds);
  if (!suffices(most)) return 0;
  while (most - least > 1) {
    const int middle = (least + most) / 2;
    (suffices(middle) ? most : least) = middle;
  }
  return most;
}

double least_effect(int n, double level, bool t_test) {
  if (n < 2 || (!t_test && least_paired_p(static_cast<std::size_t>(n)) > level)) return std::numeric_limits<double>::infinity();
  const std::optional<FlipTest> test = t_test ? std::nullopt : std::optional<FlipTest>(std::in_place, n, level);
  const auto power = [&](double effect) { return test ? test->power(effect) : paired_power(effect, n, level); };
  double low = 0, high = 1;
  while (power(high) < kPower) low = high, high *= 2;
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (power(middle) < kPower ? low : high) = middle;
  }
  return high;
}

std::string comparisons_text(int comparisons) {
  return fmt::format("{} comparison{}", comparisons, comparisons == 1 ? "" : "s");
}

std::string fewest_seeds_text(int comparisons) {
  return fmt::format("{}, which need{} {} seeds", comparisons_text(comparisons), comparisons == 1 ? "s" : "",
                     fewest_seeds(kLevel / comparisons));
}

std::string nothing_significant_text(int n, int comparisons, bool are_seeds) {
  const auto text =
      fmt::format("n = {}: no difference can be significant at {:g} % over {}", n, 100 * kLevel, comparisons_text(comparisons));
  if (!are_seeds) return text;
  return fmt::format(
      "{}; {} seeds could show a difference, in {:g} % of cases, if it is at least {:g} deviations of the paired "
      "differences",
      text, seeds_for(kUsualEffect, kLevel / comparisons), 100 * kPower, kUsualEffect);
}

}  // namespace ablate::db
