// How time and memory grow with the length, against the exponents that a descriptor declares.
#pragma once

#include "core/conformance/check.h"
#include "core/runtime/instances.h"

namespace ablate {

/// For attentions and compressions. One training pass (forward and backward) of 1024, 2048 and 4096 tokens each, in float32 on
/// the CPU; the exponent is the slope of the logarithm over the two doublings or, where that is too steep, over one more. A
/// cost that grows more slowly than declared passes: a declaration is an upper bound, and at these lengths what grows slowly
/// may outweigh what grows fast.
///
/// memory: peak bytes of tensors from before the instance is made, exact; needs count_tensor_memory() (core/runtime).
/// time, only where `timed`: the process's CPU time, the least of several passes, which a busy machine disturbs little.
/// @param compression for an attention that takes one; what it declares bounds the pair as well
void check_cost(const Chosen& plugin, const Chosen& compression, bool timed, Checks& checks);

}  // namespace ablate
