// Fused form of linear attention; its operations are declared in the SDK's kernel_attention.h.
#pragma once

#include <vector>

#include "ablate/kernel_attention.h"

namespace ablate::kernels {

/// Arguments of one call. A tensor may be undefined if kernel_attention.h allows it.
struct LinearAttention {
  Tensor queries;                  ///< [batch, n, d]
  std::vector<QueryGroup> groups;  ///< at least one; in self-attention the context of a single group is the queries
  Tensor group_of = {};            ///< [batch, n] int64; undefined: all queries read in the single group
  Tensor factors = {};             ///< [batch, n]
  Tensor output, output_bias;      ///< [d, width], [d]
  Tensor vectors = {};             ///< [heads, features, d_head], of random features
  std::int64_t heads = 1;
  FeatureMap map = FeatureMap::kElu;  ///< if there are no vectors
};

/// True if there is a fused form for the call, or for a call with these widths.
bool may_fuse(const LinearAttention& of);
bool may_fuse_widths(const Tensor& queries, std::int64_t width, std::int64_t heads);

/// Runs the fused form, which must exist. Differentiable once.
Tensor fused_linear_attention(const LinearAttention& of);

}  // namespace ablate::kernels
