// The fused form of the delta rule, which the SDK's delta_rule.h says.
#pragma once

#include "ablate/delta_rule.h"

namespace ablate::kernels {

/// Whether there is a fused form of it here.
bool may_fuse_delta_rule(const DeltaRule& of);

/// It, where there is. Differentiable once.
DecayedSums fused_delta_rule(const DeltaRule& of);

}  // namespace ablate::kernels
