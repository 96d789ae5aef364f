// The delta rule by chunks: in place of adding k v^T to a state, what it holds under k is moved towards v.
#pragma once

#include "ablate/recurrent.h"

namespace ablate::delta {

/// S_i = exp(log_decay_i) (I - beta_i k_i k_i^T) S_(i-1) + beta_i k_i v_i^T, read by q_i S_i. Linear time: within chunks of 64
/// a triangular system is solved (the WY form), between them a state goes on. Where |k_i| is at most 1 and beta_i in [0, 1] no
/// state grows.
/// @param of keys and values at padding 0 @param beta [batch, heads, n, 1] @param log_decay [batch or 1, heads or 1, n, 1], at
/// most 0; at padding 0
Recurred delta_rule(const Recurrence& of, const Tensor& beta, const Tensor& log_decay);

}  // namespace ablate::delta
