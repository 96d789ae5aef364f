// alpha-entmax: softmax at alpha 1, sparsemax at alpha 2, and sparse in between.
#pragma once

#include "ablate/tensor.h"

namespace ablate::entmax {

/// p_i = max(0, (alpha - 1) x_i - tau)^(1 / (alpha - 1)), with tau such that p sums to 1 (Peters et al. 2019, Eq. 10). Has
/// gradients for x (Peters et al., Proposition 2) and for alpha (Correia et al. 2019, Proposition 1).
/// @param x [..., n], finite
/// @param alpha 1.01 to 2, of x's type, broadcastable to x's shape with last dimension 1
Tensor alpha_entmax(const Tensor& x, const Tensor& alpha);

}  // namespace ablate::entmax
