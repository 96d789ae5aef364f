// Fused feed-forward part on a CPU, by raw pointers: one interface, compiled for each set of instructions.
#pragma once

#include <cstdint>

#include "core/kernels/cpu/product.h"

namespace ablate::kernels::cpu {

/// Sizes and weights. All numbers are contiguous float32.
struct FeedForwardCall {
  std::int64_t tokens = 0;
  int d = 0, h = 0;                               ///< multiples of kLanes
  bool relu = false;                              ///< false: gelu
  const float *gamma = nullptr, *beta = nullptr;  ///< [d], for the norm
  const float *w1 = nullptr, *b1 = nullptr;       ///< [h, d], [h]
  const float *w2 = nullptr, *b2 = nullptr;       ///< [d, h], [d]
  const float* x = nullptr;                       ///< [tokens, d]
  const float* inner_noise = nullptr;             ///< [tokens, h], factors of dropout; null: no dropout
  const float* noise = nullptr;                   ///< [tokens, d], factors of dropout; null: no dropout
  Product product = nullptr;
};

/// Gradients for one thread's tokens. The callee sets all of them.
struct FeedForwardGradients {
  float *gamma, *beta, *w1, *b1, *w2, *b2;
};

/// Returns the number of scratch floats that a call needs, forward or backward.
std::int64_t feed_forward_scratch(const FeedForwardCall& call);

/// @param scratch feed_forward_scratch(call) floats, 64-byte aligned
/// @param y [tokens, d]
using FeedForwardForward = void (*)(const FeedForwardCall& call, float* scratch, float* y);
/// @param dy [tokens, d]
/// @param dx [tokens, d]
using FeedForwardBackward = void (*)(const FeedForwardCall& call, float* scratch, const float* dy, float* dx,
                                     const FeedForwardGradients& gradients);

}  // namespace ablate::kernels::cpu
