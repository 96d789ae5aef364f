// Dropout of attention weights, drawn from the given generator. Torch's fused kernel draws from the global generator.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// Sets each number of x to 0 with probability p, and divides the others by 1 - p.
/// @param p in [0, 1); 0: returns x itself and draws no number
/// @param generator on x's device
Tensor drop(const Tensor& x, double p, const Generator& generator);

/// drop(softmax(q k^T / sqrt(d) + mask)) v. Weights exist for only some queries at a time, and the backward pass computes and
/// draws them again. So no [n, m] matrix is stored. Differentiable once.
/// @param queries [batch, heads, n, d]
/// @param keys [batch, heads, m, d]
/// @param values [batch, heads, m, d_value]
/// @param mask bool, true: attend; [batch, heads or 1, n or 1, m]; undefined: none. A row without a key to attend to gives NaN.
/// @param causal query i attends to keys 0 to i, if the mask allows them too
/// @param p in (0, 1)
/// @return [batch, heads, n, d_value], of the queries' type
Tensor dropped_attention(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& mask, bool causal,
                         double p, const Generator& generator);

}  // namespace ablate
