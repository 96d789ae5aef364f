// Numbers in memory: float32, or bfloat16 of which all is computed in float32.
#pragma once

#include <cstdint>

namespace ablate::kernels::cuda {

struct Bf16 {
  std::uint16_t bits;
};

/// [batch, heads, tokens, channels] of any layout in which a token's channels stand together. Strides are in numbers; 0
/// repeats.
template <class T>
struct Heads {
  T* data = nullptr;
  std::int64_t batch = 0, head = 0, token = 0;
};

constexpr int kMostChannels = 1024;  ///< of a head: loops over channels take them by tiles

/// Sizes of a call: at least 0, heads at least 1.
struct Shape {
  std::int64_t batch, heads, tokens;
};

}  // namespace ablate::kernels::cuda
