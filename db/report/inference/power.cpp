#include "db/report/inference/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "db/report/inference/holm.h"
#include "db/report/inference/permutation.h"

namespace ablate::db {
namespace {

constexpr int kMostSeeds = 10'000;
constexpr double kUsualEffect = 2;

}  // namespace

double paired_power(double effect, int n, double level) {
  const double freedom = n - 1;
  const double t = boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), level / 2));
  const boost::math::non_central_t there(freedom, effect * std::sqrt(static_cast<double>(n)));
  return boost::math::cdf(boost::math::complement(there, t)) + boost::math::cdf(there, -t);
}

int seeds_for(double effect, double level) {
  int least = 2;
  while (least_paired_p(static_cast<std::size_t>(least)) > level) ++least;
  const auto suffices = [&](int n) { return paired_power(effect, n, level) >= kPower; };
  if (suffices(least)) return least;
  int most = 2 * least;  // more seeds never tell less
  while (most < kMostSeeds && !suffices(most)) least = most, most *= 2;
  most = std::min(most, kMostSeeds);
  if (!suffices(most)) return 0;
  while (most - least > 1) {
    const int middle = (least + most) / 2;
    (suffices(middle) ? most : least) = middle;
  }
  return most;
}

double least_effect(int n, double level) {
  if (n < 2 || least_paired_p(static_cast<std::size_t>(n)) > level) return std::numeric_limits<double>::infinity();
  double low = 0, high = 1;
  while (paired_power(high, n, level) < kPower) low = high, high *= 2;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (paired_power(middle, n, level) < kPower ? low : high) = middle;
  }
  return high;
}

std::string nothing_told_text(int n, int comparisons) {
  return fmt::format(
      "n = {}: nothing can be told at {:g} % over {} comparison{}; {} seeds could, in {:g} % of cases, if a difference is at "
      "least {:g} deviations of the paired differences",
      n, 100 * kLevel, comparisons, comparisons == 1 ? "" : "s", seeds_for(kUsualEffect, kLevel / comparisons), 100 * kPower,
      kUsualEffect);
}

}  // namespace ablate::db
