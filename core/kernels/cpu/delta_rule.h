// Delta rule on a CPU, with raw pointers and chunks of kTile tokens (the SDK's delta_rule.h), if erase and write are equal.
#pragma once

#include "core/kernels/cpu/decayed_sums.h"

namespace ablate::kernels::cpu {

/// All numbers are float32.
struct DeltaRuleCall {
  DecayedSumsCall sums;          ///< not shared; its decay is kNone or kToken
  Heads<const float> strengths;  ///< [batch, heads, tokens, 1]

  std::int64_t moved() const { return static_cast<std::int64_t>(kTile) * sums.d_value; }  ///< numbers of a chunk's u
};

/// Gradients; all are set, as in DecayedSumsGradients.
struct DeltaRuleGradients {
  DecayedSumsGradients sums;
  Heads<float> strengths;
};

/// Returns the number of scratch floats that a call needs, forward or backward.
std::int64_t delta_rule_scratch(const DeltaRuleCall& call);

/// @param before, state as in DecayedSumsForward
/// @param moved [batch, heads, chunks, kTile, d_value]: u of every token; in the last
/// chunk zeros behind the last token
using DeltaRuleForward = void (*)(const DeltaRuleCall& call, float* scratch, const Heads<float>& out, float* before,
                                  float* moved, float* state);
/// @param before, moved results of the forward pass
using DeltaRuleBackward = void (*)(const DeltaRuleCall& call, float* scratch, const float* before, const float* moved,
                                   const Heads<const float>& d_out, const float* d_state, const DeltaRuleGradients& gradients);

}  // namespace ablate::kernels::cpu
