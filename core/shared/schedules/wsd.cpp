// Warm-up, stable, decay (Hu et al. 2024, MiniCPM, section 4): flat, then a fall to 0 over the last share of the steps. The
// fall is linear, or by 1 - sqrt (Haegele et al. 2024, Eq. 3), which falls fast at first.
#include <fmt/format.h>

#include <cmath>

#include "core/shared/schedules.h"
#include "core/shared/trial_spec.h"

namespace ablate::schedules {

StepRate wsd(const RunStep& step) {
  const auto share = step.own.at("cooldown").get<double>(), begin = step.steps * (1 - share);
  if (step.at <= begin || share == 0) return {step.rise()};
  const auto shape = kCooldownShapes.of(step.own.at("cooldown_shape").get<std::string>());
  const auto gone = std::min(1.0, (step.at - begin) / (step.steps - begin));
  return {std::min(step.rise(), 1 - (shape == CooldownShape::kLinear ? gone : std::sqrt(gone)))};
}

std::optional<Misfit> falls_in_warmup(const TrainSpec& train) {
  const auto cooldown = train.own.at("cooldown").get<double>(), steps = static_cast<double>(train.steps);
  if (static_cast<double>(train.warmup) <= steps - cooldown * steps) return std::nullopt;
  return Misfit{{"train.cooldown", "train.warmup", "train.schedule", "train.steps"},
                fmt::format("train.cooldown = {}: the rate would fall before train.warmup = {} of {} steps are over", cooldown,
                            train.warmup, train.steps)};
}

}  // namespace ablate::schedules
