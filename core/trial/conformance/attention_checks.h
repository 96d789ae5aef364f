// What every attention plugin must do, and what its descriptor promises on top, tried on small inputs.
#pragma once

#include "core/trial/conformance/check.h"
#include "core/trial/model/instances.h"

namespace ablate {

/// Runs every check that the plugin's promises call for, on the CPU but for the one that compares with a CUDA device, in
/// seconds. @param compression for a plugin that takes one; otherwise its descriptor may be null. Always: types, lengths, long,
/// gradient, trained, batch, instances, evaluation, save, scale, measure, parameters. Where promised: seed, half, constants,
/// causal, state, padding, poison (NaN under the mask), empty (an item without a token), cross, cuda. What is not promised:
/// refused.
void check_attention(const Chosen& plugin, const Chosen& compression, Checks& checks);

}  // namespace ablate
