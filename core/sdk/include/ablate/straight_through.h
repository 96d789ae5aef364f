// Straight-through estimators (Bengio et al. 2013, arXiv 1308.3432): the value of one tensor with the gradient of another.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// Returns `hard` with the gradient of `soft`; both have one shape and type. Each pass of a module must make these calls in the
/// same order: the suite's finite differences replay them. A replay returns the recorded `hard` plus the change of `soft`.
Tensor straight_through(const Tensor& hard, const Tensor& soft);

/// Returns x as a constant, for a loss that must train other tensors only. The suite's finite differences replay this call,
/// too. The result is detached, and x itself is not, because a detached parameter would never train again.
Tensor frozen(const Tensor& x);

}  // namespace ablate
