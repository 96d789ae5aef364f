// Sums that decay: what RetNet, gated linear attention and Mamba-2 keep of a sequence. In linear time, by chunks.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

struct DecayedSums {
  Tensor values;  ///< [batch, heads, n, d_value]: q_i S_i
  Tensor state;   ///< [batch, heads, d_key, d_value]: S_n
};

/// S_i = diag(exp(log_decay_i)) S_(i-1) + k_i v_i^T, read by q_i S_i: a token's own k v^T is read undecayed. Whole, by segments
/// and token by token are the same sums. Nothing is divided by a decay, so however strong it is nothing overflows. No [n, n]
/// matrix exists: pairs within chunks of 64, and a sum for each chunk.
/// @param q, k [batch, heads or 1, n, d_key] @param v [batch, heads, n, d_value], float32 or float64
/// @param log_decay [batch or 1, heads, n, d_key or 1] of their type, at most 0; padding keeps the sums with k = 0 and a log
/// decay of 0; undefined: nothing decays
/// @param state S_0, [batch, heads, d_key, d_value]; undefined: 0
/// @param fused may take the fused form (AttentionContext::fused): of float32 on a CPU, where d_key and d_value are at most
/// 320; multiples of 16 are not copied. Differentiable once.
DecayedSums decayed_sums(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay, const Tensor& state,
                         bool fused = false);

}  // namespace ablate
