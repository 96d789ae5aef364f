// The fused feed-forward part on a CPU, by raw pointers: one interface, compiled for each set of instructions.
#pragma once

#include <cstdint>

#include "core/kernels/cpu/product.h"

namespace ablate::kernels::cpu {

/// Sizes and weights, all contiguous float32.
struct FeedForwardCall {
  std::int64_t tokens = 0;
  int d = 0, h = 0;                               ///< multiples of kLanes
  bool relu = false;                              ///< else gelu
  const float *gamma = nullptr, *beta = nullptr;  ///< [d], of the norm
  const float *w1 = nullptr, *b1 = nullptr;       ///< [h, d], [h]
  const float *w2 = nullptr, *b2 = nullptr;       ///< [d, h], [d]
  const float* x = nullptr;                       ///< [tokens, d]
  const float* inner_noise = nullptr;             ///< [tokens, h], what dropout multiplies by; null: nothing is dropped
  const float* noise = nullptr;                   ///< [tokens, d], likewise
  Product product = nullptr;
};

/// Of one thread's tokens; the callee sets all of them.
struct FeedForwardGradients {
  float *gamma, *beta, *w1, *b1, *w2, *b2;
};

/// Floats of scratch that either pass of a call takes.
std::int64_t feed_forward_scratch(const FeedForwardCall& call);

/// @param scratch of feed_forward_scratch(call) floats, 64-byte aligned @param y [tokens, d]
using FeedForwardForward = void (*)(const FeedForwardCall& call, float* scratch, float* y);
/// @param dy [tokens, d] @param dx [tokens, d]
using FeedForwardBackward = void (*)(const FeedForwardCall& call, float* scratch, const float* dy, float* dx,
                                     const FeedForwardGradients& gradients);

}  // namespace ablate::kernels::cpu
