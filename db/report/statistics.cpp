#include "db/report/statistics.h"

#include <cmath>

namespace ablate::db {

Summary summary_of(std::span<const Sample> samples) {
  Summary summary{.n = static_cast<int>(samples.size())};
  if (samples.empty()) return summary;
  double sum = 0, squares = 0;
  for (const auto& sample : samples) sum += sample.value;
  summary.mean = sum / summary.n;
  for (const auto& sample : samples) squares += (sample.value - summary.mean) * (sample.value - summary.mean);
  if (summary.n > 1) summary.deviation = std::sqrt(squares / (summary.n - 1));
  return summary;
}

double relative_uncertainty(const Cell& cell) {
  return std::isfinite(cell.uncertainty) && cell.mean != 0 ? cell.uncertainty / std::abs(cell.mean) : 0;
}

}  // namespace ablate::db
