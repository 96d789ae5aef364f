// One level of a binary tree over a sequence, with the nodes that a token attends to on its left. The right side is mirrored.
#pragma once

#include <algorithm>

#include "ablate/tensor.h"

namespace binary_partition {

using ablate::Tensor;

/// Number of levels that cover one side of every token, and the sequence's length padded to whole nodes of the top level.
struct Height {
  std::int64_t levels = 1, length = 1;
};
inline Height height_of(std::int64_t tokens, std::int64_t nodes) {
  for (std::int64_t top = 0;; ++top) {
    const auto width = std::int64_t{1} << top, length = (tokens + width - 1) / width * width;
    // The first node of the next level that the last token would attend to: ((length - 1) - 1 + nodes) / (2 width) - nodes.
    if ((length - 2 + nodes) / (2 * width) < nodes) return {top + 1, length};
  }
}

/// Nodes of level l are 2^l tokens wide. Token i attends to the nodes e_l, e_l - 1, ..., e_l - nodes + 1, with e_l = floor((i -
/// 1 + nodes) / 2^l) - nodes. This solves e_0 = i - 1 and e_l = floor(c / 2), where c = e_(l-1) - nodes is the first node that
/// level l - 1 leaves out. If c is a left child, its parent e_l includes a right child that level l - 1 covers, so c replaces
/// e_l. Every token to the left is in exactly one node. The columns are the nodes from e_l - nodes to e_l. The node e_l -
/// nodes may replace the next level's first node.
class Level {
 public:
  /// @param nodes at least 1
  /// @param tokens length of the sequence
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
  std::int64_t seen() const { return groups_ + nodes_; }  ///< nodes that a tile's tokens attend to together

  /// Splits tokens into tiles. A group is the tokens that attend to the same nodes, and a tile is several groups.
  /// [batch, heads, tokens, d] -> [batch, heads, tiles, size, d]
  Tensor tiles(const Tensor& x) const {
    return ablate::pad(x, {0, 0, shift_, tiles_ * size() - shift_ - tokens_}).unflatten(2, {tiles_, -1});
  }
  /// Inverse of tiles(): [batch, heads, tokens, d].
  Tensor joined(const Tensor& x) const { return x.flatten(2, 3).narrow(2, shift_, tokens_); }

  /// Returns the nodes that each tile attends to, 0 for missing nodes.
  /// [batch, heads, nodes of the level, d] -> [batch, heads, tiles, seen, d]
  Tensor windows(const Tensor& x) const {
    const auto before = 2 * nodes_ - first_, all = tiles_ * groups_ + nodes_;
    return ablate::pad(x, {0, 0, before, all - before - x.size(2)}).unfold(2, seen(), groups_).transpose(-1, -2);
  }

  /// Picks each token's own nodes: [batch, heads, tiles, size, seen] -> [batch, heads, tokens, columns()].
  Tensor by_token(const Tensor& x) const {
    const auto groups = x.unflatten(3, {groups_, width_}).transpose(3, 4).flatten(4);
    // Each row gets one more column, so that group g begins at its g-th node.
    const auto own = ablate::pad(groups, {0, groups_}).unflatten(4, {groups_, seen() + 1}).narrow(5, 0, columns());
    return joined(own.transpose(3, 4).flatten(3, 4));
  }
  /// Inverse of by_token(), 0 elsewhere: [batch, heads, tiles, size, seen].
  Tensor by_tile(const Tensor& x) const {
    const auto groups = tiles(x).unflatten(3, {groups_, width_}).transpose(3, 4);
    const auto rows = ablate::pad(groups, {0, seen() + 1 - columns()}).flatten(4).narrow(4, 0, groups_ * seen());
    return rows.unflatten(4, {groups_, seen()}).transpose(3, 4).flatten(3, 4);
  }

  /// Returns true for the columns that each token uses, even if their nodes do not exist: [tokens, columns()] bool.
  Tensor open(c10::Device device) const {
    const auto options = ablate::TensorOptions(ablate::kLong).device(device);
    const auto place = ablate::arange(tokens_, options).unsqueeze(1) + (nodes_ - 1);
    const auto bit = [&](std::int64_t which) { return place.floor_divide(std::int64_t{1} << which).remainder(2); };
    const auto yes = ablate::ones({tokens_, 1}, options.dtype(ablate::kBool));
    const auto child = bit(level_) == 0, whole = level_ == 0 ? yes : bit(level_ - 1) == 1;
    return ablate::cat({child, yes.expand({-1, nodes_ - 1}), whole}, 1);
  }

 private:
  static constexpr std::int64_t kTile = 32;  // minimum tokens of a tile, because products of fewer rows are slow

  std::int64_t level_, nodes_, tokens_, width_;
  std::int64_t groups_;         // groups of a tile
  std::int64_t first_, shift_;  // the group of token 0, and its position in that group
  std::int64_t tiles_;
};

}  // namespace binary_partition
