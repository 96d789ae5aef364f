// One level of a binary tree over a sequence, and which of its nodes a token sees to its left. To its right it is the same,
// mirrored.
#pragma once

#include <algorithm>

#include "ablate/tensor.h"

namespace binary_partition {

using ablate::Tensor;

/// Levels below which the tokens to one side of any token are covered, and the sequence padded to whole nodes of the highest.
struct Height {
  std::int64_t levels = 1, length = 1;
};
inline Height height_of(std::int64_t tokens, std::int64_t nodes) {
  for (std::int64_t top = 0;; ++top) {
    const auto width = std::int64_t{1} << top, length = (tokens + width - 1) / width * width;
    // The first node of the level above that the last token would see: ((length - 1) - 1 + nodes) / (2 width) - nodes.
    if ((length - 2 + nodes) / (2 * width) < nodes) return {top + 1, length};
  }
}

/// Token i sees, of level l, whose nodes are 2^l tokens wide, the nodes e, e - 1, ..., e - nodes + 1 with e = floor((i - 1 +
/// nodes) / 2^l) - nodes (a closed form of e_0 = i - 1, e_l = floor((e_(l-1) - nodes) / 2)). Where e_(l-1) - nodes is a left
/// child, its parent e would take in a token that level l - 1 has covered: then the child stands for it. So every token to the
/// left is in one node that is seen. Columns are the nodes e - nodes, which may stand for the next level's first, to e.
class Level {
 public:
  /// @param nodes at least 1 @param tokens of the sequence
  Level(std::int64_t level, std::int64_t nodes, std::int64_t tokens)
      : level_(level),
        nodes_(nodes),
        tokens_(tokens),
        width_(std::int64_t{1} << level),
        groups_(std::max<std::int64_t>(1, kTile / width_)),
        first_((nodes - 1) / width_),
        shift_((nodes - 1) % width_),
        tiles_((shift_ + tokens + size() - 1) / size()) {}

  std::int64_t columns() const { return nodes_ + 1; }
  std::int64_t size() const { return groups_ * width_; }  ///< tokens of a tile
  std::int64_t seen() const { return groups_ + nodes_; }  ///< nodes that they see together

  /// Tokens that see the same nodes are a group; some groups are a tile. @param x [batch, heads, tokens, d] @return [batch,
  /// heads, tiles, size, d]
  Tensor tiles(const Tensor& x) const {
    return ablate::pad(x, {0, 0, shift_, tiles_ * size() - shift_ - tokens_}).unflatten(2, {tiles_, -1});
  }
  /// Its inverse. @return [batch, heads, tokens, d]
  Tensor joined(const Tensor& x) const { return x.flatten(2, 3).narrow(2, shift_, tokens_); }

  /// The nodes that a tile sees, 0 where there is none. @param x [batch, heads, nodes of the level, d] @return [batch, heads,
  /// tiles, seen, d]
  Tensor windows(const Tensor& x) const {
    const auto before = 2 * nodes_ - first_, all = tiles_ * groups_ + nodes_;
    return ablate::pad(x, {0, 0, before, all - before - x.size(2)}).unfold(2, seen(), groups_).transpose(-1, -2);
  }

  /// Of each token the nodes that it sees. @param x [batch, heads, tiles, size, seen] @return [batch, heads, tokens, columns()]
  Tensor by_token(const Tensor& x) const {
    const auto groups = x.unflatten(3, {groups_, width_}).transpose(3, 4).flatten(4);
    // A column more a row: group g begins at its g-th node.
    const auto own = ablate::pad(groups, {0, groups_}).unflatten(4, {groups_, seen() + 1}).narrow(5, 0, columns());
    return joined(own.transpose(3, 4).flatten(3, 4));
  }
  /// Its inverse, 0 elsewhere. @return [batch, heads, tiles, size, seen]
  Tensor by_tile(const Tensor& x) const {
    const auto groups = tiles(x).unflatten(3, {groups_, width_}).transpose(3, 4);
    const auto rows = ablate::pad(groups, {0, seen() + 1 - columns()}).flatten(4).narrow(4, 0, groups_ * seen());
    return rows.unflatten(4, {groups_, seen()}).transpose(3, 4).flatten(3, 4);
  }

  /// Which columns count, whether there is a node or not: [tokens, columns()] bool.
  Tensor open(c10::Device device) const {
    const auto options = ablate::TensorOptions(ablate::kLong).device(device);
    const auto place = ablate::arange(tokens_, options).unsqueeze(1) + (nodes_ - 1);
    const auto bit = [&](std::int64_t which) { return place.floor_divide(std::int64_t{1} << which).remainder(2); };
    const auto yes = ablate::ones({tokens_, 1}, options.dtype(ablate::kBool));
    const auto child = bit(level_) == 0, whole = level_ == 0 ? yes : bit(level_ - 1) == 1;
    return ablate::cat({child, yes.expand({-1, nodes_ - 1}), whole}, 1);
  }

 private:
  static constexpr std::int64_t kTile = 32;  // tokens at least: products of fewer rows are slow

  std::int64_t level_, nodes_, tokens_, width_;
  std::int64_t groups_;         // of a tile
  std::int64_t first_, shift_;  // the group of token 0, and its place in it
  std::int64_t tiles_;
};

}  // namespace binary_partition
