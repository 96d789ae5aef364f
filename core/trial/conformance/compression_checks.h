// The conformance suite for compressions: what the contract (ablate/compression.h) and the plugin's own promises ask for.
#pragma once

#include "core/trial/conformance/candidate.h"
#include "core/trial/conformance/check.h"

namespace ablate {

/// Every check, on the parameters chosen and again with every other choice of each text and boolean parameter; the bounds of
/// numbers are constructed and run. On the CPU, in float64 unless a check says otherwise. Takes a second or so.
void check_compression(const Candidate& candidate, Depth depth, Checks& checks);

}  // namespace ablate
