#include "core/trial/objectives/pooling.h"

namespace ablate::poolings {

/// Divides by the true length. Padding counts neither in the sum nor in the length.
Tensor mean(const Tensor& x, const Tensor& mask, const nlohmann::json&) {
  if (!mask.defined()) return x.mean(1);
  return x.masked_fill(mask.logical_not().unsqueeze(-1), 0).sum(1) / mask.sum(1, true).clamp_min(1);
}

}  // namespace ablate::poolings
