// Warm-up, stable, decay (Hu et al. 2024, MiniCPM, section 4): flat until the last share of the steps, over which the rate
// falls to 0; linearly, or by 1 - sqrt (Haegele et al. 2024, Eq. 3), which falls fast at first.
#include <cmath>

#include "core/shared/schedules.h"

namespace ablate::schedules {

Pace wsd(const RunStep& step) {
  const auto share = step.own.at("cooldown").get<double>(), begin = step.steps * (1 - share);
  if (step.at <= begin || share == 0) return {step.rise()};
  const auto gone = std::min(1.0, (step.at - begin) / (step.steps - begin));
  return {std::min(step.rise(), 1 - (step.own.at("cooldown_shape") == "linear" ? gone : std::sqrt(gone)))};
}

}  // namespace ablate::schedules
