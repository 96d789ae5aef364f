// The fused form of decayed sums, which the SDK's decayed_sums.h says.
#pragma once

#include "ablate/decayed_sums.h"

namespace ablate::kernels {

/// Whether there is a fused form of it here.
bool may_fuse_decayed_sums(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay, const Tensor& state);

/// It, where there is. Differentiable once.
DecayedSums fused_decayed_sums(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay, const Tensor& state);

}  // namespace ablate::kernels
