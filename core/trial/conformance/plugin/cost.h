// How time and memory grow with the length, against the exponents that a descriptor declares.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/trial/conformance/engine/candidate.h"
#include "core/trial/conformance/engine/check.h"

namespace ablate {

/// The power of the length that costs at lengths which double grow with: the least-squares slope of the logarithms.
/// @param costs at least 2, all above 0
double exponent(std::span<const double> costs);

/// What each of the lengths costs.
using MeasureCosts = std::function<std::vector<double>(std::span<const std::int64_t> lengths)>;

struct Growth {
  double exponent = 0;
  std::size_t lengths = 0;  ///< that it was fitted to
};

/// The exponent over 1024, 2048 and 4096 tokens or, where that is above `most`, the least of up to three measurements over 8192
/// as well: what fits into a cache at first and not at last looks steeper than it is, and a longer line less so.
Growth growth(const MeasureCosts& costs, double most);

/// For attentions and compressions. One training pass (forward and backward) of 1024, 2048 and 4096 tokens each, in float32 on
/// the CPU, and of 8192 where these look too steep (growth). A cost that grows more slowly than declared passes: a declaration
/// is an upper bound, and at these lengths what grows slowly may outweigh what grows fast.
///
/// memory: peak bytes of tensors from before the instance is made, exact; needs count_tensor_memory() (core/trial/device).
/// time, where `timed`, and then nothing else: the process's CPU time, the least of several passes at lengths that take turns,
/// which a busy machine disturbs little.
void check_cost(const Candidate& candidate, bool timed, Checks& checks);

}  // namespace ablate
