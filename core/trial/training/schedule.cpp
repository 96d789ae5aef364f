#include "core/trial/training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace ablate {

double learning_rate_factor(const std::string& schedule, std::int64_t step, std::int64_t steps, std::int64_t warmup) {
  const auto s = static_cast<double>(step), n = static_cast<double>(steps),
             w = static_cast<double>(std::max<std::int64_t>(warmup, 1));
  const double rise = std::min(1.0, s / w);
  const double after =
      n > w ? std::clamp((s - w) / (n - w), 0.0, 1.0) : 0.0;  // 0 at the end of the warm-up, 1 at the last step
  if (schedule == "constant") return rise;
  if (schedule == "one-cycle") {
    constexpr double kStart = 1.0 / 25, kEnd = kStart / 1e4;
    if (s < w) return kStart + (1 - kStart) * (s - 1) / (w - 1);
    return 1 + (kEnd - 1) * after;
  }
  if (schedule == "cosine") return s < w ? rise : 0.5 * (1 + std::cos(std::numbers::pi * after));
  if (schedule == "inverse-sqrt") return s < w ? rise : std::sqrt(w / s);
  throw std::invalid_argument("no such schedule: " + schedule);
}

}  // namespace ablate
