// Dropout of attention weights, drawn from the generator handed in: torch's fused kernel draws from the global one.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// Each number of x becomes 0 with probability p, and the others are divided by 1 - p. @param p in [0, 1); 0: x itself, and
/// nothing is drawn @param generator on x's device
Tensor drop(const Tensor& x, double p, const Generator& generator);

/// drop(softmax(q k^T / sqrt(d) + mask)) v. Weights exist for some queries at a time and are formed again, and drawn again,
/// going backward: no [n, m] matrix is kept. Differentiable once.
/// @param queries [batch, heads, n, d] @param keys [batch, heads, m, d] @param values [batch, heads, m, d_value]
/// @param mask bool, true: attend; [batch, heads or 1, n or 1, m]; undefined: none. A row that attends to nothing gives NaN.
/// @param causal query i attends to keys 0 to i, besides what the mask says @param p in (0, 1)
/// @return [batch, heads, n, d_value], of the queries' type
Tensor dropped_attention(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& mask, bool causal,
                         double p, const Generator& generator);

}  // namespace ablate
