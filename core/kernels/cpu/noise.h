// What dropout multiplies by.
#pragma once

#include <cstdint>

namespace ablate::kernels::cpu {

/// to[i] = 0 with a probability of threshold / 2^31, else `kept`. The same numbers for the same seed, whatever the
/// instructions: 16 generators (xoshiro128++, Blackman and Vigna 2021) take turns, their states drawn by splitmix64.
using Noise = void (*)(std::uint64_t seed, std::int32_t threshold, float kept, std::int64_t count, float* to);

}  // namespace ablate::kernels::cpu
