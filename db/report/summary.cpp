#include "db/report/summary.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <compare>
#include <map>
#include <set>
#include <vector>

namespace ablate::db {

Summary summary_of(std::span<const Sample> samples) {
  Summary summary{.n = static_cast<int>(samples.size())};
  if (samples.empty()) return summary;
  // The values are sorted, because the last digit of their sum depends on their order.
  std::vector<double> values;
  values.reserve(samples.size());
  for (const auto& sample : samples) values.push_back(sample.value);
  std::sort(values.begin(), values.end(), [](double a, double b) { return std::strong_order(a, b) < 0; });
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  summary.mean = sum / summary.n;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  if (summary.n < 2) return summary;
  summary.deviation = std::sqrt(squares / (summary.n - 1));
  // The mean of equal values may differ from these values by rounding.
  const double rounding = summary.n * std::numeric_limits<double>::epsilon() * std::abs(summary.mean);
  if (summary.deviation <= rounding) summary.deviation = 0;
  if (values.front() == values.back()) summary.mean = values.front();
  return summary;
}

bool have_own_seeds(std::span<const Sample> samples) {
  std::set<std::int64_t> seeds;
  return samples.size() < 2 || std::all_of(samples.begin(), samples.end(), [&](const Sample& sample) {
           return sample.seed && seeds.insert(*sample.seed).second;
         });
}

namespace {

std::map<std::size_t, std::vector<Sample>> by_setting(std::span<const Sample> samples) {
  std::map<std::size_t, std::vector<Sample>> settings;
  for (const auto& sample : samples) settings[sample.setting].push_back(sample);
  return settings;
}

}  // namespace

std::optional<std::vector<Sample>> seed_means(std::span<const Sample> samples, int settings) {
  const auto parts = by_setting(samples);
  if (static_cast<int>(parts.size()) != settings) return std::nullopt;
  std::map<std::optional<std::int64_t>, double> sums;
  for (const auto& [setting, own] : parts) {
    const bool is_first = setting == parts.begin()->first;
    if (!have_own_seeds(own) || (!is_first && own.size() != sums.size())) return std::nullopt;
    for (const auto& sample : own)
      if (const auto [at, is_new] = sums.try_emplace(sample.seed, sample.value); !is_new)
        at->second += sample.value;
      else if (!is_first)
        return std::nullopt;
  }
  std::vector<Sample> means;
  for (const auto& [seed, sum] : sums) means.push_back({seed, sum / settings});
  return means;
}

Summary summary_over_settings(std::span<const Sample> samples, int settings) {
  if (settings == 1) return summary_of(samples);
  if (const auto seeds = seed_means(samples, settings)) return summary_of(*seeds);
  std::vector<Sample> means;
  for (const auto& [unused, own] : by_setting(samples)) means.push_back({std::nullopt, summary_of(own).mean});
  return {.n = static_cast<int>(samples.size()), .mean = summary_of(means).mean};
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
