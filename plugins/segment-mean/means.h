// Means of equal segments, and their gradient.
#pragma once

#include "ablate/tensor.h"

namespace ablate::segment_mean {

/// [batch, heads, n, d] -> [batch, heads, n / tokens, d]: the mean of every `tokens` neighbours; n is a multiple of it.
Tensor means(const Tensor& x, std::int64_t tokens);

}  // namespace ablate::segment_mean
