// Fused form of the norm and gate of heads' values, declared in the SDK's gated_norm.h.
#pragma once

#include "ablate/gated_norm.h"

namespace ablate::kernels {

/// True if there is a fused form for these tensors here.
bool may_fuse_gated_norm(const Tensor& values, const Tensor& gate);

/// Runs the fused form, which must exist. Differentiable once.
Tensor fused_gated_norm(const Tensor& values, const Tensor& gate, HeadNorm norm);

}  // namespace ablate::kernels
