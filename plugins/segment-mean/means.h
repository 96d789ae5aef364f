// Means of equal segments, and their gradient.
#pragma once

#include <torch/types.h>

namespace ablate::segment_mean {

/// [batch, heads, n, d] -> [batch, heads, n / tokens, d]: the mean of every `tokens` neighbours; n is a multiple of it.
torch::Tensor means(const torch::Tensor& x, std::int64_t tokens);

}  // namespace ablate::segment_mean
