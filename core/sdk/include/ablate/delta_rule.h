// Delta rule: moves the value that a state holds under k towards v, instead of adding k v^T. Linear time, by chunks.
#pragma once

#include "ablate/decayed_sums.h"

namespace ablate {

/// Keys, values and strengths that correct a state, in the order of tokens.
struct DeltaRule {
  Tensor q, k;       ///< [batch, heads, n, d_key]; keys are 0 at padding
  Tensor v;          ///< [batch, heads, n, d_value], 0 at padding
  Tensor erase;      ///< [batch, heads, n, 1 or d_key], from 0 to 2: removed share of the state's value under a key
  Tensor write;      ///< [batch, heads, n, 1 or d_value]: added share of the new value
  Tensor log_decay;  ///< [batch or 1, heads, n, 1 or d_key], at most 0, and 0 at padding; undefined: no decay
  Tensor state;      ///< S_0, [batch, heads, d_key, d_value]; undefined: 0
};

/// S_i = (I - k_i (erase_i * k_i)^T) diag(exp(log_decay_i)) S_(i-1) + k_i (write_i * v_i)^T, read by q_i S_i (Gated
/// DeltaNet-2). With one number for both strengths of a head, this is Kimi Delta Attention; with one decay too, Gated DeltaNet.
/// A whole sequence, segments and single tokens give the same result. Within chunks of 64 a triangular system is solved (the WY
/// form). A state connects the chunks. No number is divided by a decay. If |k_i| is at most 1, erasing does not make a state
/// grow, unless the channels have different strengths. With an erase above 1, eigenvalues reach -1 (Grazzi et al. 2024).
/// @param fused may use the fused form (AttentionContext::fused), which is differentiable once. Its conditions: float32 on a
/// CPU, n above 16, d_key and d_value multiples of 16 and at most 256, `erase` and `write` the same tensor with one number a
/// head, and one decay for all channels.
DecayedSums delta_rule(const DeltaRule& of, bool fused = false);

}  // namespace ablate
