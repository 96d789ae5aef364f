// BP-Transformer (Ye et al. 2019): on each side, a token attends to near tokens and to a few nodes of each level of a binary
// tree. Nodes that are farther away cover longer spans. README.md lists the differences from the paper.
#include <cmath>

#include "ablate/blocks.h"
#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"
#include "ablate/padding.h"
#include "level.h"
#include "rows.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;
using binary_partition::Height;
using binary_partition::Level;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("nodes", "16", {1, 4096}, "k: nodes of each level that a token attends to on each side", "nodes"),
    ablate::integer("scales", "6", {1, 32}, "levels with own relative positions; higher levels share those of the last"),
    ablate::text("spans", "\"attention\"", "attention|mean", "weights of the tokens in a span's key and value"),
};

/// Keys and values of the spans of each level. Level 0 holds the tokens.
struct Tree {
  std::vector<Tensor> keys, values;  ///< [batch, heads, nodes, d]
  std::vector<Tensor> present;       ///< [batch or 1, 1, nodes, 1] bool: true if the span has a token

  /// Returns the tree in reversed order, right to left.
  Tree mirrored() const {
    const auto each = [](std::vector<Tensor> all) {
      for (auto& x : all) x = x.flip(2);
      return all;
    };
    return {each(keys), each(values), each(present)};
  }
};

class BinaryPartition final : public ablate::HeadwiseAttention {
 public:
  explicit BinaryPartition(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        nodes_(context.parameters.integer("nodes")),
        attends_(context.parameters.text("spans") == "attention") {
    const auto rows =
        binary_partition::rows_of(nodes_, context.parameters.integer("scales"), context.max_length, context.causal);
    rows_ = register_buffer("rows", rows.of_columns);
    const double bound = std::sqrt(6 / static_cast<double>(rows.count + d_head()));
    relative_ =
        register_parameter("relative", ablate::empty({rows.count, d_head()}).uniform_(-bound, bound, context.generator));
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("binary-partition: queries and context have to be one sequence");
    const auto n = input.q.size(2), sides = rows_.size(0);
    const auto height = binary_partition::height_of(n, nodes_);
    const auto q = ablate::widened(input.q) * (1 / std::sqrt(static_cast<double>(d_head())));
    const auto k = ablate::widened(input.k), v = ablate::widened(input.v);
    const auto mask = ablate::mask_or_all(input.mask, n, input.k).view({-1, 1, n, 1});

    const auto tree = grow(q, k, v, mask, height);
    const auto right = sides > 1 ? tree.mirrored() : Tree{};
    const auto mirrored = [&](const Tensor& x) { return ablate::pad(x, {0, 0, 0, height.length - n}).flip(2); };
    const auto back = [&](const Tensor& x) { return x.flip(2).narrow(2, 0, n); };
    std::vector<Tensor> scores = {(q * k).sum(-1, true)}, seen = {mask};
    each_level(n, height, sides, [&](const Level& level, std::size_t l, bool left) {
      const auto& nodes = left ? tree : right;
      const auto found =
          level.by_token(level.tiles(left ? q : mirrored(q)).matmul(level.windows(nodes.keys[l]).transpose(-1, -2)));
      const auto windows = level.windows(nodes.present[l]).transpose(-1, -2);  // [batch or 1, 1, tiles, 1, seen]
      const auto there = level.by_token(windows.expand({-1, -1, -1, level.size(), -1})).logical_and(level.open(q.device()));
      scores.push_back(left ? found : back(found));
      seen.push_back(left ? there : back(there));
    });

    const auto rows = ablate::cat({ablate::zeros({1}, rows_.options()), rows_.narrow(1, 0, height.levels).flatten()});
    // Uses a product instead of index_select, because the product's backward pass adds up a row's columns in the same order on
    // every device.
    const auto which = rows.unsqueeze(1) == ablate::arange(relative_.size(0), rows_.options());
    const auto positions = which.to(q.scalar_type()).matmul(ablate::widened(relative_));
    // Multiplies two matrices, because torch's method for more dimensions depends on strides and on the need for gradients.
    const auto along = q.flatten(0, 2).matmul(positions.t()).view({q.size(0), q.size(1), n, -1});
    auto weights = ablate::masked_softmax(ablate::cat(scores, 3) + along, ablate::cat(seen, 3).logical_not());
    weights = ablate::drop(weights, dropout(), input.generator);

    auto values = weights.narrow(3, 0, 1) * v;
    std::int64_t column = 1;
    each_level(n, height, sides, [&](const Level& level, std::size_t l, bool left) {
      const auto own = weights.narrow(3, column, level.columns());
      column += level.columns();
      const auto read =
          level.joined(level.by_tile(left ? own : mirrored(own)).matmul(level.windows((left ? tree : right).values[l])));
      values = values + (left ? read : back(read));
    });
    return {.values = values.to(input.q.scalar_type())};
  }

  template <class F>
  void each_level(std::int64_t n, const Height& height, std::int64_t sides, const F& f) const {
    for (std::int64_t side = 0; side < sides; ++side)
      for (std::int64_t l = 0; l < height.levels; ++l)
        f(Level(l, nodes_, side == 0 ? n : height.length), static_cast<std::size_t>(l), side == 0);
  }

  /// Builds the tree. A span's key and value are weighted sums over its tokens. The weights are equal, or the attention of
  /// the span's mean query.
  /// @param q scaled
  /// @param mask [batch or 1, 1, n, 1]
  Tree grow(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Height& height) const {
    const auto padded = [&](const Tensor& x) { return ablate::pad(x, {0, 0, 0, height.length - x.size(2)}); };
    const auto queries = padded(q.masked_fill(mask.logical_not(), 0)), keys = padded(k), values = padded(v),
               there = padded(mask);
    Tree tree{{keys}, {values}, {there}};
    for (std::int64_t l = 1; l < height.levels; ++l) {
      const auto width = std::int64_t{1} << l;
      const auto spans = [&](const Tensor& x) { return x.unflatten(2, {-1, width}); };  // [batch, heads, nodes, width, ...]
      const auto of_keys = spans(keys), of_values = spans(values), present = spans(there).squeeze(-1);
      const auto count = present.sum(-1, true).clamp_min(1).to(k.scalar_type());
      const auto weights =
          attends_ ? ablate::masked_softmax(of_keys.matmul((spans(queries).sum(3) / count).unsqueeze(-1)).squeeze(-1),
                                            present.logical_not())
                   : (present.to(k.scalar_type()) / count).expand({-1, k.size(1), -1, -1});
      const auto sum = [&](const Tensor& x) { return weights.unsqueeze(-2).matmul(x).squeeze(-2); };
      tree.keys.push_back(sum(of_keys));
      tree.values.push_back(sum(of_values));
      tree.present.push_back(present.any(-1, true));
    }
    return tree;
  }

  std::int64_t nodes_;
  bool attends_;
  Tensor rows_;      ///< Rows::of_columns
  Tensor relative_;  ///< [rows, d_head], shared by all heads
};

}  // namespace

ABLATE_ATTENTION(BinaryPartition, {.id = "binary-partition",
                                   .version = "1.0.0",
                                   .summary = "near tokens, and spans of a binary tree that are longer the farther they are",
                                   .paper = "Ye et al. 2019, BP-Transformer, arXiv 1911.04070, section 3",
                                   .capabilities = {.causal = true,
                                                    .key_padding = true,
                                                    .holes = true,
                                                    .weight_dropout = true,
                                                    .averages = true,
                                                    .half_precision = true,
                                                    .time_exponent = 1.2,
                                                    .memory_exponent = 1.2},
                                   .parameters = parameters})
