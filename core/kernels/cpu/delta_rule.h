// Delta rule on a CPU if erase and write are equal (see the SDK's delta_rule.h), with raw pointers and chunks of kTile tokens.
#pragma once

#include "core/kernels/cpu/decayed_sums.h"

namespace ablate::kernels::cpu {

/// All numbers are float32.
struct DeltaRuleCall {
  DecayedSumsCall sums;          ///< `shared` is false; `decay` is kNone or kToken
  Heads<const float> strengths;  ///< [batch, heads, tokens, 1]: erase and write

  std::int64_t moved() const { return static_cast<std::int64_t>(kTile) * sums.d_value; }  ///< numbers in a chunk's `moved`
};

/// Gradients. A call sets all of them; `sums.log_decay` and `sums.state` may be null (not requested).
struct DeltaRuleGradients {
  DecayedSumsGradients sums;
  Heads<float> strengths;
};

/// Returns the number of scratch floats that a call needs, forward or backward.
std::int64_t delta_rule_scratch(const DeltaRuleCall& call);

/// @param before [batch, heads, chunks, d, d_value], the sums before each chunk
/// @param moved [batch, heads, chunks, kTile, d_value]: u (delta_rule_form.h) of every token, and zeros behind the last token
/// @param state S_n, [batch, heads, d, d_value]
using DeltaRuleForward = void (*)(const DeltaRuleCall& call, float* scratch, const Heads<float>& out, float* before,
                                  float* moved, float* state);
/// @param before, moved results of the forward pass
using DeltaRuleBackward = void (*)(const DeltaRuleCall& call, float* scratch, const float* before, const float* moved,
                                   const Heads<const float>& d_out, const float* d_state, const DeltaRuleGradients& gradients);

}  // namespace ablate::kernels::cpu
