// Whether a training with a plugin stops and goes on.
#pragma once

#include "core/trial/conformance/candidate.h"
#include "core/trial/conformance/check.h"

namespace ablate {

/// "training": a training that was saved after three steps is loaded into another; then both take three steps, and must have
/// the same losses and weights, bit by bit. On a class of sequences, or, of an attention that is causal alone or carries a
/// state, on a stream in lanes.
void check_training(const Candidate& candidate, Checks& checks);

}  // namespace ablate
