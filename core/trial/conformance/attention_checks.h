// What every attention plugin must do, and what it promises on top with its parameters and parts, tried on small inputs.
#pragma once

#include "core/trial/conformance/candidate.h"
#include "core/trial/conformance/check.h"

namespace ablate {

/// Runs every check that the promises call for (docs/checks.md), on the candidate's device, in seconds.
void check_attention(const Candidate& candidate, Depth depth, Checks& checks);

}  // namespace ablate
