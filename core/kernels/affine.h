// Fused form of x W^T + b, declared in the SDK's linear.h.
#pragma once

#include "ablate/linear.h"

namespace ablate::kernels {

/// True if the fused form may be used and is faster: it uses AVX-512, and on AMD processors LibTorch's MKL uses only AVX2.
bool may_fuse_affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// Runs the fused form, even if it is not faster. The caller checks that sizes and instructions allow it. Differentiable once.
Tensor fused_affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace ablate::kernels
