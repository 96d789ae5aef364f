// Tokens that leave the memory of earlier segments when a new segment arrives (compressive-transformer and infinity).
#pragma once

#include "ablate/headwise.h"

namespace ablate {

/// Tokens that do not fit into the memory when a segment is appended to it: the oldest tokens of each item.
struct Leaving {
  Tensor oldest;  ///< [batch] int64: index of an item's first token in memory and segment together
  Tensor there;   ///< [batch, n] bool: true for each leaving token, oldest first
  Tensor read;    ///< [batch] int64: number of tokens of the segment

  /// @param mask [batch, memory + n] bool
  /// @param memory number of tokens that the memory can store
  Leaving(const Tensor& mask, std::int64_t memory) {
    const auto n = mask.size(1) - memory;
    const auto remembered = mask.narrow(1, 0, memory).sum(1);
    read = mask.narrow(1, memory, n).sum(1);
    const auto step = arange(n, read.options()).unsqueeze(0);
    oldest = memory - remembered;
    there = step < (remembered + read - memory).unsqueeze(1);
  }

  /// Returns the leaving tokens, 0 at other positions.
  /// @param tokens [batch, memory + n, d]
  /// @return [batch, n, d]
  Tensor of(const Tensor& tokens) const {
    return rows_from(tokens, oldest, there.size(1)).masked_fill(there.logical_not().unsqueeze(-1), 0);
  }
};

}  // namespace ablate
