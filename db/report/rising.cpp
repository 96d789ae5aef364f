#include "db/report/rising.h"

#include <fmt/format.h>

#include <cmath>

namespace ablate::db {
namespace {

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double squares_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

}  // namespace

RisingAnswer rising_of(const std::vector<std::pair<std::int64_t, double>>& points, const std::string& direction,
                       double last_rate) {
  RisingAnswer answer;
  if (last_rate < 0.5) return answer.rising = Rising::kAnneals, answer;
  std::vector<double> before, last;
  for (const auto& [step, value] : points) {
    const auto share = static_cast<double>(step) / static_cast<double>(points.back().first);
    if (share > 0.8)
      last.push_back(value);
    else if (share > 0.6)
      before.push_back(value);
  }
  if (before.size() < 2 || last.size() < 2) return answer;
  answer.improvement = (direction == "max" ? 1 : -1) * (mean_of(last) - mean_of(before));
  answer.noise = std::sqrt((squares_of(before) + squares_of(last)) / static_cast<double>(before.size() + last.size() - 2));
  answer.rising = answer.improvement > answer.noise ? Rising::kYes : Rising::kNo;
  return answer;
}

std::string rising_text(const RisingAnswer& answer) {
  if (answer.rising == Rising::kAnneals) return "cannot tell: the rate anneals";
  if (answer.rising == Rising::kTooFew) return "cannot tell: fewer than two evaluations in a fifth of the steps";
  return fmt::format("{}: by {:.3g} in the last fifth of the steps, noise {:.2g}", answer.rising == Rising::kYes ? "yes" : "no",
                     answer.improvement, answer.noise);
}

}  // namespace ablate::db
