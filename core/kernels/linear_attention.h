// The fused form of linear attention, whose operations are in the SDK's kernel_attention.h.
#pragma once

#include <vector>

#include "ablate/kernel_attention.h"

namespace ablate::kernels {

/// One call. What may be undefined is what kernel_attention.h says of it.
struct LinearAttention {
  Tensor queries;                  ///< [batch, n, d]
  std::vector<QueryGroup> groups;  ///< one at least; the context of one is the queries in self-attention
  Tensor group_of = {};            ///< [batch, n] int64; undefined: all queries read in the one group
  Tensor factors = {};             ///< [batch, n]
  Tensor output, output_bias;      ///< [d, width], [d]
  Tensor vectors = {};             ///< [heads, features, d_head], of random features
  std::int64_t heads = 1;
  FeatureMap map = FeatureMap::kElu;  ///< without vectors
};

/// Whether there is a fused form for it here; for what it would be of such widths.
bool may_fuse(const LinearAttention& of);
bool may_fuse_widths(const Tensor& queries, std::int64_t width, std::int64_t heads);

/// It, where there is. Differentiable once.
Tensor fused_linear_attention(const LinearAttention& of);

}  // namespace ablate::kernels
