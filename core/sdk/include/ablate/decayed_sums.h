// Sums that decay: the state of RetNet, gated linear attention and Mamba-2. Computed in linear time, by chunks.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

struct DecayedSums {
  Tensor values;  ///< [batch, heads, n, d_value]: q_i S_i
  Tensor state;   ///< [batch, heads, d_key, d_value]: S_n
};

/// S_i = diag(exp(log_decay_i)) S_(i-1) + k_i v_i^T, read by q_i S_i: a token's own k v^T is read undecayed. A whole sequence,
/// segments and single tokens give the same sums. No number is divided by a decay, so even a strong decay does not overflow. No
/// [n, n] matrix exists: only pairs within chunks of 64, and a sum for each chunk.
/// @param q, k [batch, heads or 1, n, d_key]
/// @param v [batch, heads, n, d_value], float32 or float64
/// @param log_decay [batch or 1, heads, n, d_key or 1] of q's type, at most 0; undefined: no decay. At padding, k = 0 and a log
/// decay of 0 keep the sums.
/// @param state S_0, [batch, heads, d_key, d_value]; undefined: 0
/// @param fused may use the fused form (AttentionContext::fused): for float32 on a CPU, if d_key and d_value are at most 320.
/// It copies tensors unless both are multiples of 16. Differentiable once.
DecayedSums decayed_sums(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay, const Tensor& state,
                         bool fused = false);

}  // namespace ablate
