// What every compression plugin must do, and what it promises on top, tried on small inputs.
#pragma once

#include "core/trial/conformance/candidate.h"
#include "core/trial/conformance/check.h"

namespace ablate {

/// Runs every check that the contract or the promises call for (docs/checks.md), on the CPU but for the one that compares with
/// a CUDA device: some 10 s. A small run is of these parameters alone.
void check_compression(const Candidate& candidate, Depth depth, Checks& checks);

/// The check "cuda" alone, where cuda is promised. @param device "cuda" or "cuda:N"
void check_compression_on(const Candidate& candidate, const std::string& device, Checks& checks);

}  // namespace ablate
