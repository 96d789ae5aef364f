// What leaves a memory of earlier segments with a segment: compressive-transformer, infinity.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// The rows of each item that stand at index. @param x [batch, n, ...] @param index [batch, count] int64
inline Tensor rows_at(const Tensor& x, const Tensor& index) {
  return x.dim() == 2 ? x.gather(1, index) : x.gather(1, index.unsqueeze(-1).expand({-1, -1, x.size(2)}));
}

/// Of memory and segment together, as HeadInput has them, the tokens that the memory has no room for: each item's oldest.
struct Leaving {
  Tensor index;  ///< [batch, n] int64: places among memory and segment, oldest first
  Tensor there;  ///< [batch, n] bool: there is such a token
  Tensor read;   ///< [batch] int64: tokens of the segment

  /// @param mask [batch, memory + n] bool @param memory tokens that it has room for
  Leaving(const Tensor& mask, std::int64_t memory) {
    const auto n = mask.size(1) - memory;
    const auto remembered = mask.narrow(1, 0, memory).sum(1);
    read = mask.narrow(1, memory, n).sum(1);
    const auto step = arange(n, read.options()).unsqueeze(0);
    index = (memory - remembered).unsqueeze(1) + step;
    there = step < (remembered + read - memory).unsqueeze(1);
  }

  /// 0 where there is none. @param tokens [batch, memory + n, d] @return [batch, n, d]
  Tensor of(const Tensor& tokens) const { return rows_at(tokens, index).masked_fill(there.logical_not().unsqueeze(-1), 0); }
};

}  // namespace ablate
