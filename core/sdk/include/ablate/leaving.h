// What leaves a memory of earlier segments with a segment: compressive-transformer, infinity.
#pragma once

#include "ablate/headwise.h"

namespace ablate {

/// Of memory and segment together, as HeadInput has them, the tokens that the memory has no room for: each item's oldest.
struct Leaving {
  Tensor oldest;  ///< [batch] int64: the position of an item's first token among memory and segment
  Tensor there;   ///< [batch, n] bool: as many tokens leave, oldest first
  Tensor read;    ///< [batch] int64: tokens of the segment

  /// @param mask [batch, memory + n] bool @param memory tokens that it has room for
  Leaving(const Tensor& mask, std::int64_t memory) {
    const auto n = mask.size(1) - memory;
    const auto remembered = mask.narrow(1, 0, memory).sum(1);
    read = mask.narrow(1, memory, n).sum(1);
    const auto step = arange(n, read.options()).unsqueeze(0);
    oldest = memory - remembered;
    there = step < (remembered + read - memory).unsqueeze(1);
  }

  /// 0 where there is none. @param tokens [batch, memory + n, d] @return [batch, n, d]
  Tensor of(const Tensor& tokens) const {
    return rows_from(tokens, oldest, there.size(1)).masked_fill(there.logical_not().unsqueeze(-1), 0);
  }
};

}  // namespace ablate
