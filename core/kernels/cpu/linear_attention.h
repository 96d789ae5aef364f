// Fused linear attention on a CPU, by raw pointers: with elu + 1, with relu, and with positive random features.
#pragma once

#include <cstdint>

#include "core/kernels/cpu/product.h"

namespace ablate::kernels::cpu {

/// Sizes and weights. All numbers are contiguous float32, and width = heads * d_head.
struct LinearAttentionCall {
  std::int64_t batch = 0, n = 0, m = 0;          ///< sequences, queries and keys of each sequence
  int d = 0, heads = 0, d_head = 0;              ///< channels of a token, and of a head: multiples of kLanes
  bool relu = false;                             ///< phi is relu; false: elu + 1
  const float* vectors = nullptr;                ///< [heads, features, d_head]: phi is exp(w.x - (s |x|)^2 / 2) instead, with
                                                 ///< s = d_head^-1/4; the vectors are already multiplied by s
  int features = 0;                              ///< features of a head if there are vectors: a multiple of kLanes
  const float *x = nullptr, *context = nullptr;  ///< [batch, n, d], [batch, m, d]
  const float* mass = nullptr;                   ///< [batch, m], weight of each key; null: 1 each
  const float *wq = nullptr, *bq = nullptr, *wk = nullptr, *bk = nullptr, *wv = nullptr,
              *bv = nullptr;                 ///< [width, d], [width]
  const float *wo = nullptr, *bo = nullptr;  ///< [d, width], [d]
  /// Queries that read: for sequence b rows[starts[b]] to rows[starts[b + 1] - 1], each at most once; null: all.
  const std::int64_t *rows = nullptr, *starts = nullptr;
  const float* factors = nullptr;  ///< [batch, n], multiplies the result before bo is added; null: 1
  Product product = nullptr;

  int width() const { return heads * d_head; }
  int of_head() const { return vectors != nullptr ? features : d_head; }  ///< features of a head
  /// Number of floats saved for a sequence: sum_j phi(k_j) v_j^T of each head, then sum_j phi(k_j) of each head. With vectors,
  /// one more number for each head follows: the logarithm of the number that divides the head's phi(k_j).
  std::int64_t memory() const {
    const std::int64_t all = static_cast<std::int64_t>(heads) * of_head() * (d_head + 1);
    return vectors != nullptr ? all + (heads + kLanes - 1) / kLanes * kLanes : all;
  }
};

/// Gradients for one thread's sequences. A call sets x, context and factors, and adds to the other gradients. If the queries
/// are the context, `context` is null and x gets both gradients. With chosen rows, only their entries of x and factors are set.
struct LinearAttentionGradients {
  float *x, *context, *wq, *bq, *wk, *bk, *wv, *bv, *wo, *bo;
  float* factors = nullptr;
};

/// Returns the number of scratch floats that a call needs, forward or backward.
std::int64_t linear_attention_scratch(const LinearAttentionCall& call);

/// @param scratch 64-byte aligned
/// @param y [batch, n, d], only rows that read are set
/// @param memory [batch, memory()]
using LinearAttentionForward = void (*)(const LinearAttentionCall& call, float* scratch, float* y, float* memory);
/// @param dy [batch, n, d]
using LinearAttentionBackward = void (*)(const LinearAttentionCall& call, float* scratch, const float* memory, const float* dy,
                                         const LinearAttentionGradients& gradients);

}  // namespace ablate::kernels::cpu
