#include "db/report/inference/difference.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>

#include "db/report/inference/permutation.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

std::map<std::int64_t, double> by_seed(std::span<const Sample> samples) {
  std::map<std::int64_t, double> values;
  for (const auto& sample : samples)
    if (sample.seed) values[*sample.seed] = sample.value;
  return values;
}

std::vector<Sample> unseeded(const std::vector<double>& values) {
  std::vector<Sample> samples;
  for (const double value : values) samples.push_back({std::nullopt, value});
  return samples;
}

bool finite(std::span<const Sample> samples) {
  return std::all_of(samples.begin(), samples.end(), [](const Sample& sample) { return std::isfinite(sample.value); });
}

std::vector<double> values_of(std::span<const Sample> samples) {
  std::vector<double> values;
  for (const auto& sample : samples) values.push_back(sample.value);
  return values;
}

void put_interval(double half, Difference& difference) {
  difference.low = difference.value - half, difference.high = difference.value + half;
}

double t_quantile(double freedom) { return boost::math::quantile(boost::math::students_t(freedom), 0.975); }

void put_t_test(double error, double freedom, Difference& difference) {
  difference.least_p = 0;
  if (!(error > 0) || !std::isfinite(error)) return;
  const double t = std::abs(difference.value) / error;
  difference.p = 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(freedom), t));
}

/// @param subtracted sum of the absolute values on both sides
void take_pairs(const std::vector<double>& differences, double subtracted, bool t_test, Difference& difference) {
  const auto samples = unseeded(differences);
  auto summary = summary_of(samples);
  // Differences that should be equal can differ by the rounding of the values.
  if (summary.deviation <= std::numeric_limits<double>::epsilon() * subtracted) summary.deviation = 0;
  difference.paired = true, difference.n = summary.n;
  difference.value = summary.mean, difference.deviation = summary.deviation;
  difference.least_p = least_paired_p(differences.size());
  if (!finite(samples)) return;
  put_interval(interval_of(summary, 0), difference);
  if (t_test) return put_t_test(summary.deviation / std::sqrt(summary.n), summary.n - 1, difference);
  const auto [p, exact] = sign_flip_test(differences, subtracted);
  difference.p = p, difference.exact = exact;
}

void take_sides(std::span<const Sample> a, std::span<const Sample> b, bool t_test, Difference& difference) {
  const auto one = summary_of(a), other = summary_of(b);
  difference.n = std::min(one.n, other.n);
  difference.value = one.mean - other.mean;
  if (difference.n < 2) return;  // a single value has no spread
  difference.least_p = least_unpaired_p(a.size(), b.size());
  if (!finite(a) || !finite(b)) return;
  const double v = one.deviation * one.deviation / one.n, w = other.deviation * other.deviation / other.n;
  const double sum = v + w, r = v / sum;
  const double freedom = 1 / (r * r / (one.n - 1) + (1 - r) * (1 - r) / (other.n - 1));
  if (sum > 0 && std::isfinite(sum))
    put_interval(t_quantile(freedom) * std::sqrt(sum), difference);
  else if (sum == 0)
    put_interval(0, difference);
  if (t_test) return put_t_test(std::sqrt(sum), freedom, difference);
  const auto [p, exact] = split_test(values_of(a), values_of(b));
  difference.p = p, difference.exact = exact;
}

}  // namespace

Difference difference_of(std::span<const Sample> a, std::span<const Sample> b, bool t_test) {
  Difference difference;
  const auto one = by_seed(a), other = by_seed(b);
  std::vector<double> differences;
  double subtracted = 0;
  for (const auto& [seed, value] : one)
    if (const auto partner = other.find(seed); partner != other.end()) {
      differences.push_back(value - partner->second);
      subtracted += std::abs(value) + std::abs(partner->second);
    }
  if (differences.size() < 2) {
    take_sides(a, b, t_test, difference);
    return difference;
  }
  for (const auto& [seed, unused] : one)
    if (!other.contains(seed)) difference.only_a.push_back(seed);
  for (const auto& [seed, unused] : other)
    if (!one.contains(seed)) difference.only_b.push_back(seed);
  take_pairs(differences, subtracted, t_test, difference);
  return difference;
}

}  // namespace ablate::db
