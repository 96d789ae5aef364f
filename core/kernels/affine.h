// Fused form of x W^T + b, declared in the SDK's linear.h.
#pragma once

#include "ablate/linear.h"

namespace ablate::kernels {

/// True if a fused form is faster here: its tiles use AVX-512, and LibTorch's MKL uses only AVX2 on AMD processors.
bool may_fuse_affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// Runs the fused form, even if it is not faster. The caller checks that sizes and instructions allow it. Differentiable once.
Tensor fused_affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace ablate::kernels
