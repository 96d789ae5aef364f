// Tokens that stand by bucket: a sequence sorted by what a hash or a cluster says of each token, so that those of one bucket
// are neighbours and can be attended to in blocks.
#pragma once

#include <tuple>

#include "ablate/blocks.h"

namespace ablate {

/// A sorted sequence: by bucket, within one by position. What stands in no bucket stands at the end.
struct BucketOrder {
  Tensor tokens;   ///< [batch, heads, n] int64: which token has each rank
  Tensor places;   ///< [batch, heads, n] int64: the rank of each token
  Tensor buckets;  ///< [batch, heads, n] int64: the bucket at each rank, from 1; 0 where there is none

  /// @param bucket [batch, heads, n] int64 in [0, count) @param mask [batch, n] bool: what has a bucket; undefined: all
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

  /// Which keys of a block are in the same bucket as a query: [batch, heads, blocks, size, keys] bool.
  Tensor same(const Neighbours& blocks) const {
    const auto column = buckets.unsqueeze(-1);
    const auto keys = blocks.keys(column).transpose(-1, -2);
    return (blocks.queries(column) == keys).logical_and(keys > 0);
  }
};

}  // namespace ablate
