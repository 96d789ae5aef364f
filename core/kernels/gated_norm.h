// The fused form of the norm and gate of heads' values, which the SDK's gated_norm.h says.
#pragma once

#include "ablate/gated_norm.h"

namespace ablate::kernels {

/// Whether there is a fused form of it here.
bool may_fuse_gated_norm(const Tensor& values, const Tensor& gate);

/// It, where there is. Differentiable once.
Tensor fused_gated_norm(const Tensor& values, const Tensor& gate, HeadNorm norm);

}  // namespace ablate::kernels
