// Kernel attention in linear time, as one operation with its own gradient: the read of linear attention and of landmarks.
#pragma once

#include <vector>

#include "ablate/linear.h"

namespace ablate {

/// phi of kernel attention: elu + 1 (Katharopoulos et al. 2020, Eq. 7) or relu (AdaMRA, section 4.3).
enum class FeatureMap : int { kElu, kRelu };

/// phi(x), in steps that torch differentiates. Below 0, elu + 1 is computed as e^x: float32 rounds elu(x) to -1 for x < -17.
Tensor kernel_features(const Tensor& x, FeatureMap map);

/// Largest sum of weights that counts as 0: the square root of the smallest normal number of x's type. Gradients must stay
/// finite, and they are divided by the square of the sum.
double least_kernel_sum(const Tensor& x);

/// out_i = sum_j mass_j phi(q_i).phi(k_j) v_j / sum_j mass_j phi(q_i).phi(k_j) (Katharopoulos et al. 2020, Eq. 4 and 5; AdaMRA,
/// Eq. 7) in O((n + slots) d d_value) time: no [n, slots] matrix. A query whose weights sum to 0 reads 0, without gradient.
/// @param queries [batch, heads, n, d]
/// @param keys [batch, heads, slots, d]
/// @param values [batch, heads, slots, d_value]
/// @param mass [batch, heads or 1, slots] of the queries' type, at least 0; undefined: 1 everywhere
/// @return [batch, heads, n, d_value], of the queries' type; merge_heads() of it copies nothing. For half precision, sums are
/// computed in float32. Differentiable once.
Tensor kernel_attention(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& mass, FeatureMap map);

/// Kernel attention between projections, as one operation. For queries x and context c, heads of Wq x + bq read heads of
/// Wk c + bk and Wv c + bv, and the result goes through Wo and bo. The fused form needs float32 on a CPU. d_model and d_head
/// must be multiples of 16. d_model must be at most 256, and so must the channels of all heads together. For each sequence the
/// fused form saves queries, context and a memory of [heads, d_head, d_head + 1]. The sequences are divided among
/// torch's threads. Differentiable once.
/// @param queries [batch, n, d_model]
/// @param context [batch, keys, d_model]; the same tensor in self-attention
/// @param mask [batch, keys] bool, true: counts; undefined: all
/// @return [batch, n, d_model]
Tensor projected_kernel_attention(const Tensor& queries, const Tensor& context, const Tensor& mask, const Projections& by,
                                  FeatureMap map, bool fused);

/// Like projected_kernel_attention(), with phi(x) = exp(w.s x - |s x|^2 / 2), s = d_head^-1/4, for each vector w of a head:
/// positive random features (Choromanski et al. 2021, Lemma 1; log_features() of random_features.h). Queries are divided by
/// their largest exponential, keys by the largest exponential of their sequence and head. These factors cancel. The fused form
/// needs a number of features that is a multiple of 16 and at most 1024.
/// @param vectors [heads, features, d_head], without gradient
Tensor projected_feature_attention(const Tensor& queries, const Tensor& context, const Tensor& mask, const Projections& by,
                                   const Tensor& vectors, bool fused);

/// Context and weights for a group of queries.
struct QueryGroup {
  Tensor context;                                              ///< [batch, keys, d_model]
  Tensor mass;                                                 ///< [batch, keys], weight of each key; undefined: 1 each
  Tensor query, query_bias, key, key_bias, value, value_bias;  ///< [width, d_model] and [width]
};

/// Kernel attention between projections, with one group for each query: row i is output(factors_i o_i), with o_i read in query
/// i's group. Exists only as a fused form. Throws std::invalid_argument if this machine has no such form (may_group_attention),
/// or if sizes do not fit.
/// @param group_of [batch, n] int64: index of each query's group
/// @param factors [batch, n], with a gradient; undefined: 1
/// @param heads heads of each group, with width / heads channels each
/// @return [batch, n, d_model]
Tensor grouped_kernel_attention(const Tensor& queries, const std::vector<QueryGroup>& groups, const Tensor& group_of,
                                const Tensor& factors, const Linear& output, std::int64_t heads, FeatureMap map);

/// True if this machine has a fused form for these queries.
/// @param width channels of all heads together
bool may_group_attention(const Tensor& queries, std::int64_t width, std::int64_t heads);

}  // namespace ablate
