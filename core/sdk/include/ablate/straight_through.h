// Straight-through estimators (Bengio et al. 2013, arXiv 1308.3432): the value of one tensor with the gradient of another.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// `hard` going forward, `soft` backward; both of one shape and type. In each pass of a module the calls come in the same
/// order: the suite's finite differences hold what was hard, and move by soft, which is the function that the gradient belongs
/// to.
Tensor straight_through(const Tensor& hard, const Tensor& soft);

/// x as a constant, on purpose, in a loss that shall train nothing else: the suite's finite differences hold it, too. What is
/// detached is a tensor of this call: a parameter that were would never train again.
Tensor frozen(const Tensor& x);

}  // namespace ablate
