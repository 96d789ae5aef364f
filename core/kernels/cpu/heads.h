// Memory layout of numbers by sequence, head and token.
#pragma once

#include <cstdint>

namespace ablate::kernels::cpu {

/// [batch, heads, tokens, channels] in any layout with contiguous channels.
template <class T>
struct Heads {
  T* data = nullptr;
  std::int64_t batch = 0, head = 0, token = 0;  ///< strides, in elements; a stride of 0 repeats the same elements

  T* at(std::int64_t b, std::int64_t h, std::int64_t t) const { return data + b * batch + h * head + t * token; }
};

}  // namespace ablate::kernels::cpu
