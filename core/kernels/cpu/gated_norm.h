// Norm and gate of heads' values on a CPU, by raw pointers, as described in core/sdk/include/ablate/gated_norm.h.
#pragma once

#include "core/kernels/cpu/heads.h"

namespace ablate::kernels::cpu {

/// All numbers are float32.
struct GatedNormCall {
  std::int64_t tokens = 0;  ///< tokens of a sequence
  int heads = 0;
  int channels = 0;  ///< channels of a head, a multiple of kLanes
  bool normed = false;
  bool centred = false;       ///< the norm subtracts the mean
  Heads<const float> values;  ///< [batch, heads, tokens, channels]
  Heads<const float> gate;    ///< like values; null data: 1
};

/// Gradients. A call writes all of them, and skips null pointers.
struct GatedNormGradients {
  Heads<float> values, gate;
};

/// Computes tokens [begin, end), numbered through all sequences. `out` has the shape of values.
using GatedNormForward = void (*)(const GatedNormCall& call, std::int64_t begin, std::int64_t end, const Heads<float>& out);
/// @param d_out has the shape of values
using GatedNormBackward = void (*)(const GatedNormCall& call, std::int64_t begin, std::int64_t end,
                                   const Heads<const float>& d_out, const GatedNormGradients& gradients);

}  // namespace ablate::kernels::cpu
