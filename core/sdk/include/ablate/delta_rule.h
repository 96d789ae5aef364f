// The delta rule: in place of adding k v^T to a state, what it holds under k is moved towards v. In linear time, by chunks.
#pragma once

#include "ablate/decayed_sums.h"

namespace ablate {

/// What corrects a state, in the order of tokens.
struct DeltaRule {
  Tensor q, k;       ///< [batch, heads, n, d_key]; keys at padding 0
  Tensor v;          ///< [batch, heads, n, d_value], at padding 0
  Tensor erase;      ///< [batch, heads, n, 1 or d_key], from 0 to 2: how much of what the state holds under a key is taken away
  Tensor write;      ///< [batch, heads, n, 1 or d_value]: how much of the new value is put there
  Tensor log_decay;  ///< [batch or 1, heads, n, 1 or d_key], at most 0; at padding 0; undefined: nothing decays
  Tensor state;      ///< S_0, [batch, heads, d_key, d_value]; undefined: 0
};

/// S_i = (I - k_i (erase_i * k_i)^T) diag(exp(log_decay_i)) S_(i-1) + k_i (write_i * v_i)^T, read by q_i S_i (Gated DeltaNet-2;
/// with one number for both strengths of a head Kimi Delta Attention, with one decay, too, Gated DeltaNet). Whole, by segments
/// and token by token are the same. Within chunks of 64 a triangular system is solved (the WY form), between them a state goes
/// on. Nothing is divided by a decay. Where |k_i| is at most 1 no state grows by what is erased (with an erase above 1 its
/// eigenvalues reach -1, Grazzi et al. 2024), unless each channel is erased by a strength of its own.
/// @param fused may take the fused form (AttentionContext::fused): of float32 on a CPU, where n is more than 16, d_key and
/// d_value are multiples of 16, at most 256, one tensor of one number a head is both strengths, and channels decay alike.
/// Differentiable once.
DecayedSums delta_rule(const DeltaRule& of, bool fused = false);

}  // namespace ablate
