// Memory layout of numbers by sequence, head and token.
#pragma once

#include <cstdint>

namespace ablate::kernels::cpu {

/// [batch, heads, tokens, channels] in any layout with contiguous channels. Strides count numbers, and a stride of 0 repeats.
template <class T>
struct Heads {
  T* data = nullptr;
  std::int64_t batch = 0, head = 0, token = 0;

  T* at(std::int64_t b, std::int64_t h, std::int64_t t) const { return data + b * batch + h * head + t * token; }
};

}  // namespace ablate::kernels::cpu
