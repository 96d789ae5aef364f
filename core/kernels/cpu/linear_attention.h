// Fused linear attention on a CPU, by raw pointers.
#pragma once

#include <cstdint>

#include "core/kernels/cpu/product.h"

namespace ablate::kernels::cpu {

/// Sizes and weights, all contiguous float32. width = heads * d_head.
struct LinearAttentionCall {
  std::int64_t batch = 0, n = 0, m = 0;          ///< sequences, queries and keys of each
  int d = 0, heads = 0, d_head = 0;              ///< channels of a token, and of a head: multiples of kLanes
  bool relu = false;                             ///< phi; else elu + 1
  const float *x = nullptr, *context = nullptr;  ///< [batch, n, d], [batch, m, d]
  const float* mass = nullptr;                   ///< [batch, m], what a key counts; null: 1 each
  const float *wq = nullptr, *bq = nullptr, *wk = nullptr, *bk = nullptr, *wv = nullptr,
              *bv = nullptr;                 ///< [width, d], [width]
  const float *wo = nullptr, *bo = nullptr;  ///< [d, width], [d]
  Product product = nullptr;

  int width() const { return heads * d_head; }
  /// Floats of what is kept of a sequence: by head sum_j phi(k_j) v_j^T, then sum_j phi(k_j).
  std::int64_t memory() const { return static_cast<std::int64_t>(width()) * (d_head + 1); }
};

/// Of one thread's sequences: added to, but for x and context, which are set. Where the queries are the context, `context` is
/// null and x gets both.
struct LinearAttentionGradients {
  float *x, *context, *wq, *bq, *wk, *bk, *wv, *bv, *wo, *bo;
};

/// Floats of scratch that either pass of a call takes.
std::int64_t linear_attention_scratch(const LinearAttentionCall& call);

/// @param scratch 64-byte aligned @param y [batch, n, d] @param memory [batch, memory()]
using LinearAttentionForward = void (*)(const LinearAttentionCall& call, float* scratch, float* y, float* memory);
/// @param dy [batch, n, d]
using LinearAttentionBackward = void (*)(const LinearAttentionCall& call, float* scratch, const float* memory, const float* dy,
                                         const LinearAttentionGradients& gradients);

}  // namespace ablate::kernels::cpu
