// Norm and gate that recurrent attentions apply to their sums.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// Norm of each head's values before the gate. It has no weights, because the output projection has them.
enum class HeadNorm { kNone, kLayer, kRms };

/// normed(values) SiLU(gate), head by head. kLayer: (x - mean) / sqrt(variance + 1e-5), kRms: x / sqrt(mean square + 1e-5), of
/// the channels of a head (Sun et al. 2023, Eq. 8).
/// @param values, gate [batch, heads, n, d_value], of one type; gate undefined: the values are not gated
/// @param fused may use the fused form (AttentionContext::fused): for float32 on a CPU, if d_value is a multiple of 16. It
/// saves only values and gate for its gradient. Differentiable once.
/// @return tensor of values' shape; merge_heads() of the fused form's result copies nothing
Tensor gated_norm(const Tensor& values, const Tensor& gate, HeadNorm norm, bool fused = false);

}  // namespace ablate
