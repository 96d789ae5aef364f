// The fused form of the short convolution, which the SDK's short_convolution.h says.
#pragma once

#include "ablate/short_convolution.h"

namespace ablate::kernels {

/// Whether there is a fused form of it here.
bool may_fuse_short_convolution(const ShortConvolution& of);

/// It, where there is. Differentiable once.
Tensor fused_short_convolution(const ShortConvolution& of);

}  // namespace ablate::kernels
