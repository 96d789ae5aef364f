// Feed-forward part of a layer: it transforms each position by itself, with a norm before and a residual around it.
#pragma once

#include "ablate/random.h"
#include "core/kernels/choice.h"

namespace ablate::kernels {

enum class Activation { kGelu, kRelu };

struct FeedForward {
  Tensor gamma, beta;  ///< [d], for the layer norm
  Tensor w1, b1;       ///< [h, d], [h]
  Tensor w2, b2;       ///< [d, h], [d]
  Activation activation = Activation::kGelu;
  double inner_dropout = 0, dropout = 0;  ///< after the activation, after W2; 0 outside training
};

/// x + dropout(W2 dropout(act(W1 norm(x) + b1)) + b2), norm with an epsilon of 1e-5 (Ba et al. 2016; Vaswani et al. 2017,
/// pre-norm). Both forms draw the same numbers from torch's global generator. The fused form saves for the backward pass only
/// x, and the draws if there is dropout. This form is used if d and h are multiples of 16 and d h is at most 2^18: a larger
/// weight does not stay in a cache, and plain products are then as fast. Torch's threads share the tokens, so the bits of
/// weights' gradients depend on the number of threads, as in torch. Differentiable once.
/// @param x [..., d]
/// @return tensor of x's shape and type
Tensor feed_forward(const Tensor& x, const FeedForward& weights, Choice choice);

}  // namespace ablate::kernels
