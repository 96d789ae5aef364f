// Queries in clusters: each hashed to bits, and k-means over these by the number of bits that differ (Vyas et al. 2020, section
// 3.2.1). No gradient passes: which queries stand together is a choice.
#pragma once

#include "ablate/blocks.h"

namespace ablate::clustered {

/// The clusters of a sequence's queries.
struct Groups {
  std::int64_t count;  ///< clusters, of the item that has most of them
  Tensor of;           ///< [batch, heads, n] int64: the cluster of each query; `count` where the mask has none
  Tensor sizes;        ///< [batch, heads, count] int64: queries in each
};

/// @param q [batch, heads, n, d] @param mask [batch, n] bool, or undefined: no padding @param planes [heads, d + 1, bits]:
/// directions, and in the last row how far from the origin each is @param clusters an item of L queries has as many, at most L
/// @param iterations Lloyd steps, at least 1; the first from queries that lie evenly in the item
inline Groups group_queries(const Tensor& q, const Tensor& mask, const Tensor& planes, std::int64_t clusters,
                            std::int64_t iterations) {
  const NoGradGuard none;
  const auto batch = q.size(0), heads = q.size(1), n = q.size(2), d = q.size(3), count = std::min(clusters, n);
  const auto w = planes.to(q.scalar_type());
  const auto side = q.detach().matmul(w.narrow(1, 0, d)) + w.narrow(1, d, 1) > 0;
  // Bits as -1 and 1: products of two hashes fall with the number of bits that differ, and are exact.
  const auto bits = side.to(kFloat) * 2 - 1;  // [batch, heads, n, bits]

  const auto number = arange(count, q.options().dtype(kLong));
  Tensor first;  // [batch or 1, count]; an item of fewer queries begins with each of them, some twice: the second stays empty
  if (mask.defined()) {
    const auto order = mask.to(kLong).argsort(true, 1, true);  // an item's queries first, in their order
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
    // Each bit as most members have it; where they are even, and where there is none, as it was.
    const auto sums = sum_rows(bits, groups.of, count + 1).narrow(2, 0, count);
    centres = sums.sign().where(sums != 0, centres);
  }
  groups.sizes = sum_rows(one, groups.of, count + 1).narrow(2, 0, count).squeeze(-1).to(kLong);
  return groups;
}

/// Queries by cluster, in blocks of which each belongs to one: a cluster of c queries fills c / size of them, rounded up.
struct Blocks {
  Tensor cluster;  ///< [batch, heads, blocks] int64; `count` behind the last
  Tensor query;    ///< [batch, heads, blocks * size] int64: which one stands at each place; n where none does
  Tensor place;    ///< [batch, heads, n] int64: where each stands; one without a cluster behind the last place

  Blocks(const Groups& groups, std::int64_t size) {
    const auto batch = groups.of.size(0), heads = groups.of.size(1), n = groups.of.size(2);
    // No item's clusters need more; how many they do need is not asked, which would wait for the device.
    const auto most = n / size + groups.count;
    const auto ends = (groups.sizes + (size - 1)).floor_divide(size).cumsum(2);  // in blocks, [batch, heads, count]
    const auto number = arange(most, groups.of.options());
    cluster = (ends.unsqueeze(2) <= number.unsqueeze(1)).sum(3);

    // The rank within its cluster: the place in the order by cluster, less where that begins.
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
