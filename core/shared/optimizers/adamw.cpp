#include <fmt/format.h>

#include "core/shared/optimizers.h"
#include "core/shared/trial_spec.h"
#include "core/util/plain_json.h"

namespace ablate::optimizers {

std::optional<Misfit> beta1_rises(const TrainSpec& train) {
  const auto &low = train.own.at("beta1_low"), &high = train.own.at("beta1");
  if (low <= high) return std::nullopt;
  return Misfit{{"train.beta1_low", "train.beta1"},
                fmt::format("train.beta1_low = {} is more than train.beta1 = {}", plain_json(low), plain_json(high))};
}

}  // namespace ablate::optimizers
