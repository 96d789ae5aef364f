// Kernel attention in linear time, as one operation with a gradient of its own: the read of linear attention and of landmarks.
#pragma once

#include "ablate/linear.h"

namespace ablate {

/// phi of kernel attention: elu + 1 (Katharopoulos et al. 2020, Eq. 7) or relu (AdaMRA, section 4.3).
enum class FeatureMap : int { kElu, kRelu };

/// phi(x), in steps that torch differentiates. Below 0 elu + 1 is e^x: of elu(x) float32 has lost all but -1 at -17.
Tensor kernel_features(const Tensor& x, FeatureMap map);

/// Sums of weights up to it are 0. The root of the smallest normal number of x's type: gradients, which hold the sum's square,
/// stay finite.
double least_kernel_sum(const Tensor& x);

/// out_i = sum_j mass_j phi(q_i).phi(k_j) v_j / sum_j mass_j phi(q_i).phi(k_j) (Katharopoulos et al. 2020, Eq. 4 and 5; AdaMRA,
/// Eq. 7) in O((n + slots) d d_value) time: no [n, slots] matrix exists. A query whose weights sum to 0 reads 0, and nothing
/// flows back through it.
/// @param queries [batch, heads, n, d] @param keys [batch, heads, slots, d] @param values [batch, heads, slots, d_value]
/// @param mass [batch, heads or 1, slots] of the queries' type, at least 0; undefined: 1 everywhere
/// @return [batch, heads, n, d_value], of the queries' type; merge_heads() of it copies nothing. Sums of half precision are
/// formed in float32. Differentiable once.
Tensor kernel_attention(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& mass, FeatureMap map);

/// The same between projections, as one operation: heads of Wq x + bq read heads of Wk c + bk and Wv c + bv, and what they give
/// goes through Wo and bo. The fused form (float32, on a CPU, d_model and channels of a head multiples of 16, no more than 256
/// channels of a token or of all heads) keeps queries, context and a memory of [heads, d_head, d_head + 1] a sequence; torch's
/// threads share the sequences. Differentiable once.
/// @param queries [batch, n, d_model] @param context [batch, keys, d_model]; the same tensor in self-attention
/// @param mask [batch, keys] bool, true: counts; undefined: all @return [batch, n, d_model]
Tensor projected_kernel_attention(const Tensor& queries, const Tensor& context, const Tensor& mask, const Projections& by,
                                  FeatureMap map, bool fused);

}  // namespace ablate
