// Fused form of decayed sums, declared in the SDK's decayed_sums.h.
#pragma once

#include "ablate/decayed_sums.h"

namespace ablate::kernels {

/// True if there is a fused form for these tensors here.
bool may_fuse_decayed_sums(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay, const Tensor& state);

/// Runs the fused form, which must exist. Differentiable once.
DecayedSums fused_decayed_sums(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay, const Tensor& state);

}  // namespace ablate::kernels
