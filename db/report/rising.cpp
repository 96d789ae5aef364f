#include "db/report/rising.h"

#include <fmt/format.h>

#include <cmath>

#include "db/report/summary.h"

namespace ablate::db {
RisingAnswer rising_of(const std::vector<std::pair<std::int64_t, double>>& points, const std::string& direction,
                       double last_rate) {
  RisingAnswer answer;
  if (last_rate < 0.5) return answer.rising = Rising::kAnneals, answer;
  std::vector<Sample> before, last;
  for (const auto& [step, value] : points) {
    const auto share = static_cast<double>(step) / static_cast<double>(points.back().first);
    if (share > 0.8)
      last.push_back({std::nullopt, value});
    else if (share > 0.6)
      before.push_back({std::nullopt, value});
  }
  if (before.size() < 2 || last.size() < 2) return answer;
  const auto earlier = summary_of(before), later = summary_of(last);
  const auto squares = [](const Summary& fifth) { return (fifth.n - 1) * fifth.deviation * fifth.deviation; };
  answer.improvement = (direction == "max" ? 1 : -1) * (later.mean - earlier.mean);
  answer.noise = std::sqrt((squares(earlier) + squares(later)) / (earlier.n + later.n - 2));
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
