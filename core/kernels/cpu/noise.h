// Factors of dropout.
#pragma once

#include <cstdint>

namespace ablate::kernels::cpu {

/// Sets to[i] to 0 with a probability of threshold / 2^31, otherwise to `kept`. A seed gives the same numbers with all
/// instructions: 16 generators (xoshiro128++, Blackman and Vigna 2021) take turns, with states drawn by splitmix64.
using Noise = void (*)(std::uint64_t seed, std::int32_t threshold, float kept, std::int64_t count, float* to);

}  // namespace ablate::kernels::cpu
