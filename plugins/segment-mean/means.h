// Means of equal segments, with a gradient.
#pragma once

#include "ablate/tensor.h"

namespace ablate::segment_mean {

/// [batch, heads, n, d] -> [batch, heads, n / tokens, d]: means of `tokens` neighbours. n must be a multiple of `tokens`.
Tensor means(const Tensor& x, std::int64_t tokens);

}  // namespace ablate::segment_mean
