// Softmax attention on a CPU, by raw pointers, as described in core/sdk/include/ablate/softmax_attention.h.
#pragma once

#include "core/kernels/cpu/heads.h"
#include "core/kernels/cpu/product.h"

namespace ablate::kernels::cpu {

constexpr int kKeyBlock = 256;  ///< keys whose scores exist at one time: whole tiles

/// All numbers are float32; d and d_value are multiples of kLanes, at most 256.
struct SoftmaxAttentionCall {
  std::int64_t heads = 0, n = 0, m = 0;
  int d = 0, d_value = 0;
  bool causal = false;         ///< query i attends to keys 0 to i
  Heads<const float> q, k, v;  ///< [batch, heads, n or m, channels]
  Heads<const float> bias;     ///< [batch, heads, m, 1], added to scores; -infinity: not seen; null data: 0
  float scale = 1;             ///< multiplies scores
  Product product = nullptr;

  std::int64_t tiles() const { return (n + kTile - 1) / kTile; }                ///< tiles of queries
  std::int64_t padded_keys() const { return (m + kTile - 1) / kTile * kTile; }  ///< number of keys in whole tiles
  std::int64_t statistics() const { return tiles() * 2 * kTile; }               ///< numbers in a head's statistics
};

/// Gradients; all are set.
struct SoftmaxAttentionGradients {
  Heads<float> q, k, v;
};

/// Returns the number of scratch floats that one pass of a call needs.
std::int64_t softmax_attention_scratch(const SoftmaxAttentionCall& call, bool backward);

/// Computes heads [begin, end), numbered through all sequences.
/// @param scratch for this pass, 64-byte aligned
/// @param out [batch, heads, n, d_value]
/// @param statistics [batch, heads, tiles, 2, kTile]: for each query the largest score, then 1 over the sum of the weights
using SoftmaxAttentionForward = void (*)(const SoftmaxAttentionCall& call, std::int64_t begin, std::int64_t end, float* scratch,
                                         const Heads<float>& out, float* statistics);
/// @param out, statistics results of the forward pass
/// @param d_out like out
using SoftmaxAttentionBackward = void (*)(const SoftmaxAttentionCall& call, std::int64_t begin, std::int64_t end,
                                          float* scratch, const Heads<const float>& out, const float* statistics,
                                          const Heads<const float>& d_out, const SoftmaxAttentionGradients& gradients);

}  // namespace ablate::kernels::cpu
