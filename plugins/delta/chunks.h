// The delta rule by chunks: in place of adding k v^T to a state, what it holds under k is moved towards v.
#pragma once

#include "ablate/recurrent.h"

namespace ablate::delta {

/// How much of what a state holds under a key is taken away, and how much of the new value is put there. From 0 to 1; erase up
/// to 2, with which eigenvalues reach -1 (Grazzi et al. 2024).
struct Strengths {
  Tensor erase;  ///< [batch, heads, n, 1 or d_key]
  Tensor write;  ///< [batch, heads, n, 1 or d_value]
};

/// S_i = (I - k_i (erase_i * k_i)^T) diag(exp(log_decay_i)) S_(i-1) + k_i (write_i * v_i)^T, read by q_i S_i (Gated DeltaNet-2;
/// with one number for both strengths of a head Kimi Delta Attention, with one decay, too, Gated DeltaNet). Linear time: within
/// chunks of 64 a triangular system is solved (the WY form), between them a state goes on. Nothing is divided by a decay. Where
/// |k_i| is at most 1 no state grows by what is erased, unless each channel is erased by a strength of its own.
/// @param of keys and values at padding 0 @param log_decay [batch or 1, heads or 1, n, 1 or d_key], at most 0; at padding 0
Recurred delta_rule(const Recurrence& of, const Strengths& strengths, const Tensor& log_decay);

}  // namespace ablate::delta
