// Native sparse attention (Yuan et al. 2025): a query reads means of blocks, tokens of chosen blocks, and a window separately,
// with a gate for each read. The scores of the means choose the blocks; the choice passes no gradient, as published.
#include <cmath>
#include <limits>

#include "ablate/blocks.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr std::int64_t kBranches = 3;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("block", "16", {1, 65536}, "tokens of a block, of means and of the choice (published: 32 and 64)",
                    "tokens"),
    ablate::integer("top", "4", {1, 65536},
                    "blocks that a query reads: its own, the one before, the first, then the most similar (published: 16)",
                    "blocks"),
    ablate::integer("window", "16", {1, 65536}, "tokens of the window that a query reads, up to its own (published: 512)",
                    "tokens"),
};

class NativeSparse final : public ablate::HeadwiseAttention {
 public:
  explicit NativeSparse(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        block_(context.parameters.integer("block")),
        top_(context.parameters.integer("top")),
        window_(context.parameters.integer("window")),
        gate_(register_module("gate", ablate::make_linear(context.d_model, heads() * kBranches, true, context.generator))) {}

 private:
  /// For each block, the mean of its tokens.
  struct Means {
    Tensor k, v;  ///< [batch, heads, blocks, d_head]
    Tensor seen;  ///< bool, [batch or 1, 1, n or 1, blocks]: the block has tokens and, if causal, does not end after the query
  };

  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("native-sparse: queries and context have to be one sequence");
    const auto n = input.q.size(2);
    const auto present = ablate::mask_or_all(input.mask, n, input.k).unsqueeze(1).unsqueeze(1);  // [batch or 1, 1, 1, n]
    const auto token = ablate::arange(n, input.k.options().dtype(ablate::kLong).requires_grad(false));
    const auto behind = token.unsqueeze(0) - token.unsqueeze(1);  // position of a key minus position of the query
    const auto allowed = causal() ? present.logical_and(behind <= 0) : present;
    const auto near = (causal() ? behind > -window_ : behind.abs() < window_).logical_and(allowed);
    const auto means = means_of(input, token, present);
    const auto own = token.floor_divide(block_);
    const auto chosen = choice(input.q, means, own).index_select(3, own).logical_and(allowed);

    const auto read = [&](const Tensor& k, const Tensor& v, const Tensor& seen) {
      return ablate::attend_seen(input.q, k, v, seen, dropout(), input.generator);
    };
    const auto gates = gate_->forward(input.context).sigmoid().unflatten(-1, {heads(), kBranches}).transpose(1, 2);
    const auto gate = [&](std::int64_t branch) { return gates.narrow(3, branch, 1); };  // [batch, heads, n, 1]
    return {.values = gate(0) * read(means.k, means.v, means.seen) + gate(1) * read(input.k, input.v, chosen) +
                      gate(2) * read(input.k, input.v, near)};
  }

  /// @param token [n] int64, positions
  /// @param present [batch or 1, 1, 1, n]
  Means means_of(const HeadInput& input, const Tensor& token, const Tensor& present) const {
    const ablate::Neighbours alone{.size = block_, .before = 0, .behind = 0};
    const auto count = alone.queries(present.to(ablate::widened(input.k).scalar_type()).transpose(-1, -2)).sum({3});
    const auto mean = [&](const Tensor& x) {
      return (alone.queries(ablate::widened(x)).sum({3}) / count.clamp_min(1)).to(x.scalar_type());
    };
    auto seen = (count > 0).transpose(-1, -2);
    const auto block = ablate::arange(seen.size(3), token.options());
    if (causal()) seen = seen.logical_and((block + 1) * block_ <= token.unsqueeze(1) + 1);
    return {.k = mean(input.k), .v = mean(input.v), .seen = seen};
  }

  /// Returns the blocks that each query reads: bool, [batch, heads, n, blocks].
  /// @param own [n] int64, block of each query
  Tensor choice(const Tensor& q, const Means& means, const Tensor& own) const {
    const ablate::NoGradGuard no_grad;
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    const auto block = ablate::arange(means.k.size(2), own.options()).unsqueeze(0), at = own.unsqueeze(1);
    const auto always = (block == at).logical_or(block == at - 1).logical_or(block == 0);
    const auto likeness = ablate::widened(q).matmul(ablate::widened(means.k).transpose(-1, -2));
    return ablate::largest(likeness.masked_fill(means.seen.logical_not(), kNever).masked_fill(always, -kNever), top_);
  }

  std::int64_t block_, top_, window_;
  std::shared_ptr<ablate::Linear> gate_;
};

}  // namespace

ABLATE_ATTENTION(NativeSparse, {.id = "native-sparse",
                                .version = "1.0.0",
                                .summary = "means of blocks, tokens of chosen blocks and a window, each with a gate",
                                .paper = "Yuan et al. 2025, Native Sparse Attention, arXiv 2502.11089, Eq. 5 to 12",
                                .capabilities = {.causal = true,
                                                 .key_padding = true,
                                                 .rotary = true,
                                                 .weight_dropout = true,
                                                 .half_precision = true,
                                                 .time_exponent = 2,
                                                 .memory_exponent = 2},
                                .parameters = parameters})
