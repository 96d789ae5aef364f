// Mixture of block attention (Lu et al. 2025): a query reads its own block of keys and the blocks whose mean key is most
// similar to the query. The choice passes no gradient, as published.
#include <limits>

#include "ablate/blocks.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"

namespace {

constexpr ablate::Oracle oracles[] = {{R"({"block": 16, "top": 4096})", "softmax"}};

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("block", "16", {1, 65536}, "tokens of a block (published: 512)", "tokens"),
    ablate::integer("top", "3", {1, 65536}, "blocks that a query reads, including its own (published: 3)", "blocks"),
};

class BlockMixture final : public ablate::HeadwiseAttention {
 public:
  explicit BlockMixture(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        block_(context.parameters.integer("block")),
        top_(context.parameters.integer("top")) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("block-mixture: queries and context have to be one sequence");
    const auto n = input.q.size(2);
    const auto present = ablate::mask_or_all(input.mask, n, input.k).unsqueeze(1).unsqueeze(1);  // [batch or 1, 1, 1, n]
    const auto token = ablate::arange(n, input.k.options().dtype(ablate::kLong).requires_grad(false));
    const auto own = token.floor_divide(block_);  // the block of each token
    auto seen = chosen(input, own, present).index_select(3, own).logical_and(present);
    if (causal()) seen = seen.logical_and(token.unsqueeze(0) <= token.unsqueeze(1));
    return {.values = ablate::attend_seen(input.q, input.k, input.v, seen, dropout(), input.generator)};
  }

  /// Returns the blocks that each query reads: [batch, heads, n, blocks] bool.
  Tensor chosen(const HeadInput& input, const Tensor& own, const Tensor& present) const {
    const ablate::NoGradGuard no_grad;
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    const ablate::Neighbours alone{.size = block_, .before = 0, .behind = 0};
    const auto k = alone.queries(ablate::widened(input.k));  // [batch, heads, blocks, size, d]
    const auto tokens = alone.queries(present.to(k.scalar_type()).transpose(-1, -2)).sum({3});  // [batch or 1, 1, blocks, 1]
    const auto means = k.sum({3}) / tokens.clamp_min(1);
    const auto block = ablate::arange(means.size(2), own.options());
    auto likeness = ablate::widened(input.q).matmul(means.transpose(-1, -2)).masked_fill(tokens.transpose(-1, -2) == 0, kNever);
    if (causal()) likeness = likeness.masked_fill(block > own.unsqueeze(1), kNever);
    return ablate::largest(likeness.masked_fill(block == own.unsqueeze(1), -kNever), top_);
  }

  std::int64_t block_, top_;
};

}  // namespace

ABLATE_ATTENTION(BlockMixture, {.id = "block-mixture",
                                .version = "1.0.0",
                                .summary = "softmax over the own block of keys and the blocks with the most similar means",
                                .paper = "Lu et al. 2025, MoBA, arXiv 2502.13189, Eq. 2 to 6",
                                .capabilities = {.causal = true,
                                                 .key_padding = true,
                                                 .rotary = true,
                                                 .weight_dropout = true,
                                                 .averages = true,
                                                 .sparse = true,
                                                 .half_precision = true,
                                                 .time_exponent = 2,
                                                 .memory_exponent = 2},
                                .parameters = parameters,
                                .oracles = oracles})
