// Clusters of queries: each query is hashed to bits, and k-means uses the Hamming distance (Vyas et al. 2020, section 3.2.1).
// Clustering is a choice, so no gradient passes.
#pragma once

#include "ablate/blocks.h"

namespace ablate::clustered {

/// The clusters of a batch's queries.
struct Groups {
  std::int64_t count;  ///< largest number of clusters of an item
  Tensor of;           ///< [batch, heads, n] int64: the cluster of each query; `count` for padding
  Tensor sizes;        ///< [batch, heads, count] int64: queries in each cluster
};

/// @param q [batch, heads, n, d]
/// @param mask [batch, n] bool, or undefined: no padding
/// @param planes [heads, d + 1, bits]: the directions, and in the last row their offsets from the origin
/// @param clusters upper bound: an item of L queries has at most L
/// @param iterations Lloyd steps, at least 1; the first starts from queries spaced evenly in the item
inline Groups group_queries(const Tensor& q, const Tensor& mask, const Tensor& planes, std::int64_t clusters,
                            std::int64_t iterations) {
  const NoGradGuard none;
  const auto batch = q.size(0), heads = q.size(1), n = q.size(2), d = q.size(3), count = std::min(clusters, n);
  const auto w = planes.to(q.scalar_type());
  const auto side = q.detach().matmul(w.narrow(1, 0, d)) + w.narrow(1, d, 1) > 0;
  // Bits as -1 and 1: the larger the Hamming distance of two hashes, the smaller their product. The product is exact.
  const auto bits = side.to(kFloat) * 2 - 1;  // [batch, heads, n, bits]

  const auto number = arange(count, q.options().dtype(kLong));
  Tensor first;  // [batch or 1, count]; an item with fewer queries repeats some; a repeated query's second cluster is empty
  if (mask.defined()) {
    const auto order = mask.to(kLong).argsort(true, 1, true);  // an item's queries first, in order
    first = order.gather(1, (number * mask.sum(1, true)).floor_divide(count));
  } else {
    first = (number * n).floor_divide(count).unsqueeze(0);
  }
  auto centres = take(bits, first.unsqueeze(1).expand({batch, heads, count}));  // [batch, heads, count, bits]

  Groups groups{.count = count};
  const auto one = ones({batch, heads, n, 1}, bits.options());
  for (std::int64_t i = 0;; ++i) {
    groups.of = bits.matmul(centres.transpose(-1, -2)).argmax(-1);
    if (mask.defined()) groups.of = groups.of.masked_fill(mask.logical_not().unsqueeze(1), count);
    if (i + 1 == iterations) break;
    // Each bit of a centre follows the majority of its members. On a tie, or without members, the bit does not change.
    const auto sums = sum_rows(bits, groups.of, count + 1).narrow(2, 0, count);
    centres = sums.sign().where(sums != 0, centres);
  }
  groups.sizes = sum_rows(one, groups.of, count + 1).narrow(2, 0, count).squeeze(-1).to(kLong);
  return groups;
}

/// Queries sorted by cluster, in blocks that each belong to one cluster. A cluster of c queries fills ceil(c / size) blocks.
struct Blocks {
  Tensor cluster;  ///< [batch, heads, blocks] int64; `count` after the last block
  Tensor query;    ///< [batch, heads, blocks * size] int64: the query in each row; n for an empty row
  Tensor place;    ///< [batch, heads, n] int64: the row of each query; past the last row if the query has no cluster

  Blocks(const Groups& groups, std::int64_t size) {
    const auto batch = groups.of.size(0), heads = groups.of.size(1), n = groups.of.size(2);
    // An upper bound for every item. The exact number is not read back, because that would wait for the device.
    const auto most = n / size + groups.count;
    const auto ends = (groups.sizes + (size - 1)).floor_divide(size).cumsum(2);  // in blocks, [batch, heads, count]
    const auto number = arange(most, groups.of.options());
    cluster = (ends.unsqueeze(2) <= number.unsqueeze(1)).sum(3);

    // Rank within the cluster: position in the order by cluster, minus the position at which the cluster begins.
    const auto order = groups.of.argsort(true, 2, false);
    const auto begins = pad(groups.sizes.cumsum(2), {1, 0});  // [batch, heads, count + 1]
    const auto rank = order.argsort(std::int64_t{2}) - begins.gather(2, groups.of);
    const auto block = pad(ends, {1, 0}).gather(2, groups.of);
    place = (block * size + rank).masked_fill(groups.of == groups.count, most * size);
    query = full({batch, heads, most * size + 1}, n, groups.of.options())
                .scatter(2, place, arange(n, groups.of.options()).expand_as(place))
                .narrow(2, 0, most * size);
  }
};

}  // namespace ablate::clustered
