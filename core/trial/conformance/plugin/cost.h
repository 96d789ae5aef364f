// Growth of time and memory with the length, compared with the exponents that a descriptor declares.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/trial/conformance/engine/candidate.h"
#include "core/trial/conformance/engine/check.h"

namespace ablate {

/// Returns the power of the length with which costs grow: the least-squares slope of their logarithms, at lengths that double.
/// @param costs at least 2, all above 0
double exponent(std::span<const double> costs);

/// Returns the cost of each length.
using MeasureCosts = std::function<std::vector<double>(std::span<const std::int64_t> lengths)>;

struct Growth {
  double exponent = 0;
  std::size_t lengths = 0;  ///< number of lengths in the fit
};

/// Returns the exponent over 1024, 2048 and 4096 tokens. If the exponent is above `most`, repeats the measurement up to three
/// times, with 8192 tokens added, and returns the least exponent. If a cache holds only the short sequences, the growth looks
/// too steep, but less steep with 8192 tokens.
Growth growth(const MeasureCosts& costs, double most);

/// Checks the cost of an attention or a compression: one training pass (forward and backward) of 1024, 2048 and 4096 tokens
/// each, in float32 on the CPU. Adds 8192 tokens if the growth looks too steep (growth()). A cost that grows more slowly than
/// declared passes, because a declaration is an upper bound. At these lengths, a slowly growing term may still be the largest.
///
/// memory: exact peak bytes of tensors, those of the instance included. Needs count_tensor_memory() (core/trial/device).
/// time: only if `timed`, and then without the check "memory". CPU time of the process, least of several passes. Lengths
/// alternate, so that a busy machine disturbs the result little.
void check_cost(const Candidate& candidate, bool timed, Checks& checks);

}  // namespace ablate
