// Softmax attention: LibTorch's own kernel, or a form of ours.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// softmax(q k^T / sqrt(d) + mask) v (Vaswani et al. 2017, Eq. 1). No [n, m] matrix is stored.
/// @param q [batch, heads, n, d]
/// @param k [batch, heads, m, d]
/// @param v [batch, heads, m, d_value]
/// @param mask bool (true: attend) or of the queries' type (added), expandable to [batch, heads, n, m]; undefined: none
/// @param causal query i attends to keys 0 to i; not together with a mask
/// @param fused may use the fused form (AttentionContext::fused), which is differentiable once. Its conditions: float32 on a
/// CPU where it is faster (AMD's processors with AVX-512), d and d_value multiples of 16 and at most 256, at least 32 queries,
/// a mask without gradient of the shape [batch or 1, heads or 1, 1, m]. Torch's threads share the heads of all sequences, so
/// all sequences together must have at least as many heads as there are threads.
/// @return [batch, heads, n, d_value]; a query that sees nothing reads 0. Throws c10::Error if sizes do not fit.
Tensor softmax_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal, bool fused);

}  // namespace ablate
