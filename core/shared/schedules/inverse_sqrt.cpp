// The Long Range Arena's factor, min(1, s/w) / sqrt(max(s, w)) for step s and a warm-up of w steps, times the constant sqrt(w).
// A study without a warm-up is refused because only its first step would have the peak rate.
#include <cmath>

#include "core/shared/schedules.h"
#include "core/shared/trial_spec.h"

namespace ablate::schedules {

StepRate inverse_sqrt(const RunStep& step) { return {step.at < step.warmup ? step.rise() : std::sqrt(step.warmup / step.at)}; }

std::optional<Misfit> needs_warmup(const TrainSpec& train) {
  if (train.warmup > 0) return std::nullopt;
  return Misfit{{"train.schedule", "train.warmup"},
                "train.schedule = inverse-sqrt needs a warm-up, and train.warmup is 0: the rate is its peak times "
                "sqrt(warmup / step); set train.warmup to the number of steps before the rate falls"};
}

}  // namespace ablate::schedules
