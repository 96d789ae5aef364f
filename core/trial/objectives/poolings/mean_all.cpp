#include "core/trial/objectives/pooling.h"

namespace ablate::poolings {

Tensor mean_all(const Tensor& x, const Tensor& mask, const nlohmann::json&) {
  if (!mask.defined()) return x.mean(1);
  return x.masked_fill(mask.logical_not().unsqueeze(-1), 0).sum(1) / static_cast<double>(x.size(1));
}

}  // namespace ablate::poolings
