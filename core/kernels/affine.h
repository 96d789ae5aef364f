// The fused form of x W^T + b, which the SDK's linear.h says.
#pragma once

#include "ablate/linear.h"

namespace ablate::kernels {

/// Whether there is a fused form of it here that gains: LibTorch's own products (MKL) have AVX2 alone on AMD's processors,
/// where tiles have AVX-512.
bool may_fuse_affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// It, where sizes and instructions have a form, gain or none. Differentiable once.
Tensor fused_affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace ablate::kernels
