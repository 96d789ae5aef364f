#include "core/trial/objectives/pooling.h"

namespace ablate::poolings {

/// Selects the last position whose mask is true. The mask may have holes.
Tensor last(const Tensor& x, const Tensor& mask, const nlohmann::json&) {
  if (!mask.defined()) return x.select(1, -1);
  const auto place = arange(mask.size(1), mask.options().dtype(kLong)).masked_fill(mask.logical_not(), 0).amax(1);
  return x.gather(1, place.view({-1, 1, 1}).expand({-1, 1, x.size(2)})).squeeze(1);
}

}  // namespace ablate::poolings
