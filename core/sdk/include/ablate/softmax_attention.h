// Softmax attention: LibTorch's own kernel, or a form of ours.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// softmax(q k^T / sqrt(d) + mask) v (Vaswani et al. 2017, Eq. 1). No [n, m] matrix is kept.
/// @param q [batch, heads, n, d] @param k [batch, heads, m, d] @param v [batch, heads, m, d_value]
/// @param mask bool (true: attend) or of the queries' type (added), to be expanded to [batch, heads, n, m]; undefined: none
/// @param causal query i attends to keys 0 to i; not together with a mask
/// @param fused may take the fused form (AttentionContext::fused): of float32 on a CPU, where it gains (AMD's processors with
/// AVX-512), d and d_value are multiples of 16, at most 256, there are at least 32 queries, and the mask, without a gradient,
/// is one of keys, [batch or 1, heads or 1, 1, m]. Differentiable once, then.
/// It is taken where there are as many heads of sequences as torch has threads, at least: these share heads.
/// @return [batch, heads, n, d_value]; a query that sees nothing reads 0. Throws c10::Error for sizes that do not fit.
Tensor softmax_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal, bool fused);

}  // namespace ablate
