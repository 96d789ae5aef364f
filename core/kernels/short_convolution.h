// Fused form of the short convolution, declared in the SDK's short_convolution.h.
#pragma once

#include "ablate/short_convolution.h"

namespace ablate::kernels {

/// True if there is a fused form for these tensors here.
bool may_fuse_short_convolution(const ShortConvolution& of);

/// Runs the fused form, which must exist. Differentiable once.
Tensor fused_short_convolution(const ShortConvolution& of);

}  // namespace ablate::kernels
