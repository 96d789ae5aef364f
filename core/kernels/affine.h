// Fused form of x W^T + b, declared in the SDK's linear.h.
#pragma once

#include "ablate/linear.h"

namespace ablate::kernels {

/// True if there is a fused form that is faster here. LibTorch's own products (MKL) use only AVX2 on AMD's processors, and
/// tiles use AVX-512.
bool may_fuse_affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// Runs the fused form if sizes and instructions allow it, faster or not. Differentiable once.
Tensor fused_affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace ablate::kernels
