// Straight-through estimators (Bengio et al. 2013, arXiv 1308.3432): the value of one tensor with the gradient of another.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// Returns `hard` with the gradient of `soft`; both have one shape and type. In each pass of a module the calls must come in
/// the same order: the suite's finite differences fix the recorded `hard` and move by `soft`, the function whose gradient this
/// is.
Tensor straight_through(const Tensor& hard, const Tensor& soft);

/// Returns x as a constant for a loss that must not train x. The suite's finite differences fix it too. Detach a tensor of this
/// call: a parameter that is itself detached would never train again.
Tensor frozen(const Tensor& x);

}  // namespace ablate
