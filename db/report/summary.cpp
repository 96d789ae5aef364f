#include "db/report/summary.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <compare>
#include <set>
#include <vector>

namespace ablate::db {

Summary summary_of(std::span<const Sample> samples) {
  Summary summary{.n = static_cast<int>(samples.size())};
  if (samples.empty()) return summary;
  // Sorted: the last digit of a sum would hang on the order in which trials were listed.
  std::vector<double> values;
  values.reserve(samples.size());
  for (const auto& sample : samples) values.push_back(sample.value);
  std::sort(values.begin(), values.end(), [](double a, double b) { return std::strong_order(a, b) < 0; });
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  summary.mean = sum / summary.n;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  if (summary.n > 1) summary.deviation = std::sqrt(squares / (summary.n - 1));
  return summary;
}

bool have_own_seeds(std::span<const Sample> samples) {
  std::set<std::int64_t> seeds;
  return samples.size() < 2 || std::all_of(samples.begin(), samples.end(), [&](const Sample& sample) {
           return sample.seed && seeds.insert(*sample.seed).second;
         });
}

double interval_of(const Summary& summary, double overlap) {
  if (summary.n < 2 || !std::isfinite(summary.deviation)) return std::numeric_limits<double>::quiet_NaN();
  const double t = boost::math::quantile(boost::math::students_t(summary.n - 1), 0.975);
  return t * summary.deviation * std::sqrt(1.0 / summary.n + overlap);
}

double relative_uncertainty(const Cell& cell) {
  return std::isfinite(cell.uncertainty) && cell.mean != 0 ? cell.uncertainty / std::abs(cell.mean) : 0;
}

}  // namespace ablate::db
