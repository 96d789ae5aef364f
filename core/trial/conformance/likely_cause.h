// What five failed checks or more may have in common, found by trying: the global generator, a counter of calls, an address.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ablate/tensor.h"
#include "core/trial/conformance/candidate.h"
#include "core/trial/conformance/check.h"

namespace ablate {

/// A call of one instance by the same seeds, and what it gives. @param elsewhere with copies of what is handed in else, so that
/// it lies in another place
using ProbeCall = std::function<std::vector<Tensor>(bool elsewhere)>;
/// A new instance by the same seed, which must not give anything else than the one before.
using ProbeMake = std::function<ProbeCall()>;

/// Whether so much has failed that one cause is worth a look.
bool has_failed_often(const Checks& checks);

/// What was shown: that something else than seeds and inputs changes what a plugin gives; "" where nothing does.
/// @param draw_from what it is to draw from, in the words of its contract
std::string likely_cause(const ProbeMake& make, const std::string& draw_from);

/// Of an attention or a compression. What it throws is no cause.
std::string likely_cause(const Candidate& candidate);

}  // namespace ablate
