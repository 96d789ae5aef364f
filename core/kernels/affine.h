// Fused form of x W^T + b, declared in the SDK's linear.h.
#pragma once

#include "ablate/linear.h"

namespace ablate::kernels {

/// True if there is a fused form that is faster here: its tiles use AVX-512, and LibTorch's MKL only AVX2 on AMD's processors.
bool may_fuse_affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// Runs the fused form if sizes and instructions allow it, faster or not. Differentiable once.
Tensor fused_affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace ablate::kernels
