// The norm and the gate that recurrent attentions have behind their sums.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// Of each head's values, before they are gated; without weights of its own, which the output projection has.
enum class HeadNorm { kNone, kLayer, kRms };

/// normed(values) SiLU(gate), head by head. kLayer: (x - mean) / sqrt(variance + 1e-5), kRms: x / sqrt(mean square + 1e-5), of
/// the channels of a head (Sun et al. 2023, Eq. 8).
/// @param values, gate [batch, heads, n, d_value], of one type; gate undefined: 1
/// @param fused may take the fused form (AttentionContext::fused): of float32 on a CPU, where d_value is a multiple of 16. It
/// keeps values and gate alone for its gradient. Differentiable once.
/// @return of values' shape; merge_heads() of what the fused form gives copies nothing
Tensor gated_norm(const Tensor& values, const Tensor& gate, HeadNorm norm, bool fused = false);

}  // namespace ablate
