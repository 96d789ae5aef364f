// Sequence sorted by bucket: a hash or a cluster assigns a bucket to each token. Tokens of one bucket are then
// neighbours, which can be attended to in blocks.
#pragma once

#include <tuple>

#include "ablate/blocks.h"

namespace ablate {

/// Sorted sequence: by bucket, and by position within a bucket. Tokens without a bucket are at the end.
struct BucketOrder {
  Tensor tokens;   ///< [batch, heads, n] int64: index of the token at each rank
  Tensor places;   ///< [batch, heads, n] int64: the rank of each token
  Tensor buckets;  ///< [batch, heads, n] int64: the bucket at each rank, from 1; 0 for a token without a bucket

  /// @param bucket [batch, heads, n] int64 in [0, count)
  /// @param mask [batch, n] bool: tokens with a bucket; undefined: all
  BucketOrder(const Tensor& bucket, const Tensor& mask, std::int64_t count) {
    auto key = bucket;
    if (mask.defined()) key = key.masked_fill(mask.logical_not().unsqueeze(1), count);
    Tensor sorted;
    std::tie(sorted, tokens) = key.sort(std::optional<bool>(true), 2, false);
    buckets = (sorted + 1).remainder(count + 1);
    places = tokens.argsort(std::int64_t{2});
  }

  Tensor sorted(const Tensor& x) const { return ablate::take(x, tokens); }    ///< [batch, heads, n, d] -> the same by rank
  Tensor unsorted(const Tensor& x) const { return ablate::take(x, places); }  ///< the inverse

  /// True for keys of a block that are in the same bucket as a query: [batch, heads, blocks, size, keys] bool.
  Tensor same(const Neighbours& blocks) const {
    const auto column = buckets.unsqueeze(-1);
    const auto keys = blocks.keys(column).transpose(-1, -2);
    return (blocks.queries(column) == keys).logical_and(keys > 0);
  }
};

}  // namespace ablate
