// The norm and gate of heads' values on a CPU, by raw pointers: what core/sdk/include/ablate/gated_norm.h says.
#pragma once

#include "core/kernels/cpu/heads.h"

namespace ablate::kernels::cpu {

/// float32.
struct GatedNormCall {
  std::int64_t tokens = 0;  ///< of a sequence
  int heads = 0;
  int channels = 0;  ///< of a head, a multiple of kLanes
  bool normed = false;
  bool centred = false;       ///< the norm takes the mean away
  Heads<const float> values;  ///< [batch, heads, tokens, channels]
  Heads<const float> gate;    ///< as values; its data null: 1
};

/// All are set but those of null.
struct GatedNormGradients {
  Heads<float> values, gate;
};

/// Of tokens [begin, end) of all sequences, counted through. @param out as values
using GatedNormForward = void (*)(const GatedNormCall& call, std::int64_t begin, std::int64_t end, const Heads<float>& out);
/// @param d_out as values
using GatedNormBackward = void (*)(const GatedNormCall& call, std::int64_t begin, std::int64_t end,
                                   const Heads<const float>& d_out, const GatedNormGradients& gradients);

}  // namespace ablate::kernels::cpu
