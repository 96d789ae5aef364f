// Short convolution that recurrent attentions apply to their projections.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

struct ShortConvolution {
  Tensor x;       ///< [batch, n, channels]
  Tensor filter;  ///< [channels, tokens], the last column for a position's own token
  Tensor bias;    ///< [channels]; undefined: 0
  Tensor before;  ///< [batch, tokens - 1, channels]: tokens before x; undefined: 0
};

/// y_i = SiLU(bias + sum_t filter_t x_(i - tokens + 1 + t)), each channel by itself.
/// @param fused may use the fused form (AttentionContext::fused), which is differentiable once. Its conditions: float32 on a
/// CPU, channels a multiple of 16, at most 16 tokens.
/// @return tensor of x's shape
Tensor short_convolution(const ShortConvolution& of, bool fused = false);

}  // namespace ablate
