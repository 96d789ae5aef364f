#include <cmath>
#include <numbers>

#include "core/shared/schedules.h"

namespace ablate::schedules {

Pace cosine(const RunStep& step) {
  return {step.at < step.warmup ? step.rise() : 0.5 * (1 + std::cos(std::numbers::pi * step.after()))};
}

}  // namespace ablate::schedules
