#include <cmath>
#include <numbers>

#include "core/shared/schedules.h"

namespace ablate::schedules {

StepRate cosine(const RunStep& step) {
  if (step.at < step.warmup) return {step.rise()};
  const auto floor = step.own.at("cosine_floor").get<double>();
  return {floor + (1 - floor) * (0.5 * (1 + std::cos(std::numbers::pi * step.after())))};
}

}  // namespace ablate::schedules
