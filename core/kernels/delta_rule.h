// Fused form of the delta rule, declared in the SDK's delta_rule.h.
#pragma once

#include "ablate/delta_rule.h"

namespace ablate::kernels {

/// True if there is a fused form for these tensors here.
bool may_fuse_delta_rule(const DeltaRule& of);

/// Runs the fused form, which must exist. Differentiable once.
DecayedSums fused_delta_rule(const DeltaRule& of);

}  // namespace ablate::kernels
