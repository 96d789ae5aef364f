// Numbers in memory: float32, or bfloat16 that is computed in float32.
#pragma once

#include <cstdint>

namespace ablate::kernels::cuda {

struct Bf16 {
  std::uint16_t bits;
};

/// [batch, heads, tokens, channels] in any layout with contiguous channels.
template <class T>
struct Heads {
  T* data = nullptr;
  std::int64_t batch = 0, head = 0, token = 0;  ///< strides, in elements; a stride of 0 repeats the same elements
};

constexpr int kMostChannels = 1024;  ///< largest number of channels of a head; loops process channels by tiles

/// Sizes of a call: at least 1 head, and at least 0 sequences and tokens.
struct Shape {
  std::int64_t batch, heads, tokens;
};

}  // namespace ablate::kernels::cuda
