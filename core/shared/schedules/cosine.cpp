#include <cmath>
#include <numbers>

#include "core/shared/schedules.h"

namespace ablate {
namespace {

Pace cosine_pace(const RunStep& step) {
  return {step.at < step.warmup ? step.rise() : 0.5 * (1 + std::cos(std::numbers::pi * step.after()))};
}

}  // namespace

const Schedule schedules::cosine{"cosine", "half a cosine to 0", false, cosine_pace};

}  // namespace ablate
