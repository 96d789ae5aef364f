// x W^T + b on a CPU, by raw pointers, as described in core/sdk/include/ablate/linear.h.
#pragma once

#include <cstdint>

#include "core/kernels/cpu/product.h"

namespace ablate::kernels::cpu {

/// All numbers are contiguous float32.
struct AffineCall {
  std::int64_t tokens = 0;
  int in = 0, out = 0;            ///< multiples of kLanes
  const float* weight = nullptr;  ///< [out, in]
  const float* bias = nullptr;    ///< [out]; null: 0
  const float* x = nullptr;       ///< [tokens, in]
  Product product = nullptr;
};

/// Gradients for one thread's tokens. A call writes all of them, and skips null pointers.
struct AffineGradients {
  float *x, *weight, *bias;  ///< [tokens, in], [out, in], [out]
};

/// Returns the number of scratch floats that a call needs, forward or backward.
std::int64_t affine_scratch(const AffineCall& call);

/// @param scratch affine_scratch(call) floats, 64-byte aligned
/// @param y [tokens, out]
using AffineForward = void (*)(const AffineCall& call, float* scratch, float* y);
/// @param dy [tokens, out]
using AffineBackward = void (*)(const AffineCall& call, float* scratch, const float* dy, const AffineGradients& gradients);

}  // namespace ablate::kernels::cpu
