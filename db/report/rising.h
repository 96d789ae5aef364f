// Looks for an improvement of a metric on dev at the end of a run. No SQLite.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ablate::db {

enum class Rising { kYes, kNo, kTooFew, kAnneals };

/// Result of rising_of. improvement: mean of the last fifth of the steps minus the mean of the fifth before, in the metric's
/// direction. noise: standard deviation of a single evaluation within these fifths.
struct RisingAnswer {
  Rising rising = Rising::kTooFew;
  double improvement = 0, noise = 0;
};

/// Compares the last two fifths of a curve. The curve still rises if it improved by more than its noise.
/// @param points steps and finite values, in the order of the steps
/// @param direction "max" or "min"
/// @param last_rate learning rate of the last step as a share of its peak. Below 0.5 the answer is kAnneals: the end of a
/// learning-rate schedule improves most runs, even if more steps would not improve them.
RisingAnswer rising_of(const std::vector<std::pair<std::int64_t, double>>& points, const std::string& direction,
                       double last_rate);

/// Returns "yes: by 2.1 in the last fifth of the steps, noise 0.5", "no: ...", "cannot tell: the rate anneals" or "cannot tell:
/// fewer than two evaluations in a fifth of the steps".
std::string rising_text(const RisingAnswer& answer);

}  // namespace ablate::db
