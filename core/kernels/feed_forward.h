// What a layer makes of each position by itself, with its norm before and its residual around it.
#pragma once

#include "ablate/random.h"
#include "core/kernels/choice.h"

namespace ablate::kernels {

enum class Activation { kGelu, kRelu };

struct FeedForward {
  Tensor gamma, beta;  ///< [d], of the layer norm
  Tensor w1, b1;       ///< [h, d], [h]
  Tensor w2, b2;       ///< [d, h], [d]
  Activation activation = Activation::kGelu;
  double inner_dropout = 0, dropout = 0;  ///< behind the activation, behind W2; 0 where nothing is trained
};

/// x + dropout(W2 dropout(act(W1 norm(x) + b1)) + b2), norm with an epsilon of 1e-5 (Ba et al. 2016; Vaswani et al. 2017,
/// pre-norm). Both forms draw the same numbers from torch's global generator. The fused one keeps nothing for the backward pass
/// but x, and the draws where something is dropped. It is taken where d and h are multiples of 16 and d h at most 2^18 (more
/// does not stay in a cache, where plain products are as fast). Torch's threads share the tokens: the bits of weights'
/// gradients depend on their number, as torch's own do. Differentiable once.
/// @param x [..., d] @return of x's shape and type
Tensor feed_forward(const Tensor& x, const FeedForward& weights, Choice choice);

}  // namespace ablate::kernels
