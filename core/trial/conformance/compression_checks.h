// What every compression plugin must do, and what it promises on top, tried on small inputs.
#pragma once

#include "core/trial/conformance/candidate.h"
#include "core/trial/conformance/check.h"

namespace ablate {

/// Runs every check that the contract or the promises call for (docs/checks.md), on the candidate's device: some 10 s. A small
/// run is of these parameters alone.
void check_compression(const Candidate& candidate, Depth depth, Checks& checks);

}  // namespace ablate
