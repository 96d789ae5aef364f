// What every attention plugin must do, and what its descriptor promises on top, tried on small inputs.
#pragma once

#include <vector>

#include "core/conformance/check.h"
#include "core/runtime/instances.h"

namespace ablate {

/// Runs every check that the plugin's promises call for, all on the CPU, in about a second. A check that throws has failed,
/// with its what(). @param compression for a plugin that takes one; otherwise its descriptor may be null. Always: types,
/// lengths, gradient, batch, seed, evaluation, save, scale, measure, parameters. Where promised: causal, padding, poison (NaN
/// under the mask), empty (an item without a token), cross.
std::vector<Check> check_attention(const Chosen& plugin, const Chosen& compression);

}  // namespace ablate
