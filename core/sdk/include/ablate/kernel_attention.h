// Kernel attention in linear time, as one operation with a gradient of its own: the read of linear attention and of landmarks.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// phi of kernel attention: elu + 1 (Katharopoulos et al. 2020, Eq. 7) or relu (AdaMRA, section 4.3).
enum class FeatureMap : int { kElu, kRelu };

/// out_i = sum_j mass_j phi(q_i).phi(k_j) v_j / sum_j mass_j phi(q_i).phi(k_j) (Katharopoulos et al. 2020, Eq. 4 and 5; AdaMRA,
/// Eq. 7) in O((n + slots) d d_value) time: no [n, slots] matrix exists. A query whose weights sum to 0 reads 0, and nothing
/// flows back through it.
/// @param queries [batch, heads, n, d] @param keys [batch, heads, slots, d] @param values [batch, heads, slots, d_value]
/// @param mass [batch, heads or 1, slots] of the queries' type, at least 0; undefined: 1 everywhere
/// @return [batch, heads, n, d_value], of the queries' type; merge_heads() of it copies nothing. Sums of half precision are
/// formed in float32. Differentiable once.
Tensor kernel_attention(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& mass, FeatureMap map);

}  // namespace ablate
