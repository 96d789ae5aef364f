// The delta rule on a CPU, by raw pointers: what core/sdk/include/ablate/delta_rule.h says of one strength for both, by chunks
// of kTile tokens.
#pragma once

#include "core/kernels/cpu/decayed_sums.h"

namespace ablate::kernels::cpu {

/// float32.
struct DeltaRuleCall {
  DecayedSumsCall sums;          ///< not shared; its decay is kNone or kToken
  Heads<const float> strengths;  ///< [batch, heads, tokens, 1]

  std::int64_t moved() const {
    return static_cast<std::int64_t>(kTile) * sums.d_value;
  }  ///< how many numbers the u of a chunk are
};

/// All are set, as DecayedSumsGradients says.
struct DeltaRuleGradients {
  DecayedSumsGradients sums;
  Heads<float> strengths;
};

/// Floats of scratch that either pass of a call takes.
std::int64_t delta_rule_scratch(const DeltaRuleCall& call);

/// @param before, state as DecayedSumsForward's @param moved [batch, heads, chunks, kTile, d_value]: u of every token, and of
/// the last chunk zeros behind
using DeltaRuleForward = void (*)(const DeltaRuleCall& call, float* scratch, const Heads<float>& out, float* before,
                                  float* moved, float* state);
/// @param before, moved as the forward pass left them
using DeltaRuleBackward = void (*)(const DeltaRuleCall& call, float* scratch, const float* before, const float* moved,
                                   const Heads<const float>& d_out, const float* d_state, const DeltaRuleGradients& gradients);

}  // namespace ablate::kernels::cpu
