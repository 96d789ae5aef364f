// Where the numbers of heads' tokens stand.
#pragma once

#include <cstdint>

namespace ablate::kernels::cpu {

/// [batch, heads, tokens, channels] of any layout in which a token's channels stand together. Strides are in numbers; 0
/// repeats.
template <class T>
struct Heads {
  T* data = nullptr;
  std::int64_t batch = 0, head = 0, token = 0;

  T* at(std::int64_t b, std::int64_t h, std::int64_t t) const { return data + b * batch + h * head + t * token; }
};

}  // namespace ablate::kernels::cpu
