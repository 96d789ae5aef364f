// Causal kernel attention whose keys stand over exponentials of their own, so that no later key decides how earlier ones are
// scaled.
#pragma once

#include "ablate/tensor.h"

namespace ablate::performer {

/// Below every logarithm that occurs, and finite: the logarithm of a key that is none.
inline constexpr double kNothing = -1e30;

/// phi(k_j) = features exp(log_scale), of which the logarithm is a plain number, without gradient.
struct Scaled {
  Tensor features;   ///< [batch, heads, n, m]; 0 where there is no token
  Tensor log_scale;  ///< [batch, heads, n]; kNothing where there is no token
};

/// sum_j phi(k_j) v_j^T over what has been read = sums exp(log_scale).
struct Sums {
  Tensor sums;       ///< [batch, heads, m, d]
  Tensor log_scale;  ///< [batch, heads, 1]
};

/// Query i reads the keys 0 to i and what was there before: read_i = q_i sum_(j <= i) phi(k_j) v_j^T exp(-s_i), where s_i is
/// the largest logarithm up to i, which cancels in a quotient. In chunks, O(n (chunk + m) d).
/// @param q [batch, heads, n, m] @param v [batch, heads, n, d] @param sums what was there before; replaced by what is there
/// after
/// @return [batch, heads, n, d]
Tensor read_causally(const Tensor& q, const Scaled& keys, const Tensor& v, Sums& sums);

}  // namespace ablate::performer
