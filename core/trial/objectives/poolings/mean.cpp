#include "core/trial/objectives/pooling.h"

namespace ablate::poolings {

/// By the true length: padding leaves numerator and denominator.
Tensor mean(const Tensor& x, const Tensor& mask, const nlohmann::json&) {
  if (!mask.defined()) return x.mean(1);
  return x.masked_fill(mask.logical_not().unsqueeze(-1), 0).sum(1) / mask.sum(1, true).clamp_min(1);
}

}  // namespace ablate::poolings
