// Big Bird (Zaheer et al. 2020), internal construction: no global tokens are added. A block of tokens attends to its
// neighbours, a few random blocks and the global blocks, which attend to all blocks. README.md: differences from the paper.
#include <limits>
#include <stdexcept>
#include <string>

#include "ablate/blocks.h"
#include "ablate/headwise.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Neighbours;
using ablate::Tensor;

constexpr ablate::Oracle oracles[] = {{R"({"block": 4, "random_blocks": 128})", "softmax"}, {R"({"block": 4096})", "softmax"}};

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("block", "64", {1, 4096}, "tokens of a block", "tokens"),
    ablate::integer("window_blocks", "3", {1, 1023}, "odd: neighbouring blocks that a block attends to, including itself"),
    ablate::integer("random_blocks", "3", {0, 1024}, "additional random blocks that a block attends to, drawn once per head"),
    ablate::integer(
        "global_blocks", "2", {0, 2},
        "global blocks: they attend to all blocks, and all attend to them; 1: the first; 2: the first and the last"),
};

/// The blocks of keys that each block of queries attends to.
struct Chosen {
  Tensor index;  ///< [batch or 1, heads, blocks, seen], each in [0, blocks)
  Tensor there;  ///< the same shape, bool: false if the block does not exist or is listed already
};

class BigBird final : public ablate::HeadwiseAttention {
 public:
  explicit BigBird(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        block_(context.parameters.integer("block")),
        near_(context.parameters.integer("window_blocks") / 2),
        random_(context.parameters.integer("random_blocks")),
        global_(context.parameters.integer("global_blocks")) {
    if (context.parameters.integer("window_blocks") != 2 * near_ + 1)
      throw std::invalid_argument("window_blocks = " + std::to_string(2 * near_) + " is even: expected an odd number");
    const auto blocks = (context.max_length + block_ - 1) / block_;
    random_ = std::min(random_, blocks);
    draws_ = register_buffer("draws", ablate::randint(1LL << 31, {heads(), blocks, random_}, context.generator));
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("bigbird: queries and context have to be one sequence");
    const auto batch = input.q.size(0), n = input.q.size(2);
    const Neighbours blocks{.size = std::min(block_, n), .before = 0, .behind = 0};
    const auto mask = ablate::mask_or_all(input.mask, n, input.k);
    const auto q = blocks.queries(input.q), k = blocks.queries(input.k), v = blocks.queries(input.v);
    const auto last = last_block(mask, blocks.size);
    const auto chosen = choose(last, q.size(2));
    const auto index = chosen.index.expand({batch, -1, -1, -1}).flatten(2);
    const auto beside = [&](const Tensor& x) { return ablate::take(x, index).unflatten(2, {q.size(2), -1}).flatten(3, 4); };
    const auto present = blocks.queries(mask.unsqueeze(1).unsqueeze(-1)).expand({batch, heads(), -1, -1, 1});
    const auto seen = beside(present).squeeze(-1).logical_and(chosen.there.repeat_interleave(blocks.size, 3));
    auto values = ablate::attend_blocks(q, beside(k), beside(v), seen.unsqueeze(3), dropout(), input.generator);

    const auto number = ablate::arange(q.size(2), index.options()).view({1, 1, -1, 1, 1});
    for (std::int64_t i = 0; i < global_; ++i) {
      const auto which = i == 0 ? ablate::zeros_like(last) : last;  // [batch or 1]
      const auto at = which.clamp_min(0).view({-1, 1, 1}).expand({batch, heads(), 1});
      const auto rows = ablate::attend_seen(ablate::take(q, at).squeeze(2), input.k, input.v, mask.unsqueeze(1).unsqueeze(1),
                                            dropout(), input.generator);
      values = rows.unsqueeze(2).where(number == which.view({-1, 1, 1, 1, 1}), values);
    }
    return {.values = blocks.joined(values, n)};
  }

  /// Returns the block of each item's last token, or -1 if the item has no tokens: [batch or 1] int64. Padding is ignored.
  static Tensor last_block(const Tensor& mask, std::int64_t size) {
    const auto tokens = (mask * (ablate::arange(mask.size(1), mask.options().dtype(ablate::kLong)) + 1)).amax(1);
    return (tokens + (size - 1)).floor_divide(size) - 1;
  }

  Chosen choose(const Tensor& last, std::int64_t blocks) const {
    const auto own = ablate::arange(blocks, last.options()).view({1, 1, blocks, 1});
    const auto end = last.view({-1, 1, 1, 1});
    const auto first = own * 0, none = end * 0;
    std::vector<Tensor> index, there;
    const auto add = [&](const Tensor& block, const Tensor& valid) {
      index.push_back(block.expand({last.size(0), heads(), blocks, -1}));
      there.push_back(valid.expand({last.size(0), heads(), blocks, -1}));
    };
    if (global_ > 0) add(first, end >= 0);
    if (global_ > 1) add(end, end >= 1);
    const auto window = own + ablate::arange(2 * near_ + 1, last.options()) - near_;
    // Blocks that are not global and not after the last block: [from, to).
    const auto from = none + (global_ > 0 ? 1 : 0), to = (global_ > 1 ? end : end + 1).maximum(from);
    add(window, (window >= from).logical_and(window < to));

    const auto low = (own - near_).maximum(from).minimum(to), high = (own + near_ + 1).maximum(from).minimum(to);
    const auto left = (to - from) - (high - low);  // number of blocks to draw from
    Tensor ranks;                                  // ranks of the drawn blocks among the candidates, ascending
    for (std::int64_t i = 0; i < std::min(random_, blocks); ++i) {
      // Drawn without replacement: a draw counts only the blocks that are left.
      auto rank = draws_.narrow(1, 0, blocks).narrow(2, i, 1).unsqueeze(0).remainder((left - i).clamp_min(1));
      for (std::int64_t drawn = 0; drawn < i; ++drawn) rank = rank + (rank >= ranks.narrow(3, drawn, 1));
      const auto block = rank + from;
      add(block + (block >= low) * (high - low), (left > i).expand_as(rank));
      ranks = i == 0 ? rank : std::get<0>(ablate::cat({ranks, rank}, 3).sort(3));
    }
    return {ablate::cat(index, 3).clamp(0, blocks - 1), ablate::cat(there, 3)};
  }

  std::int64_t block_, near_, random_, global_;
  Tensor draws_;  // [heads, blocks, random], in [0, 2^31)
};

}  // namespace

ABLATE_ATTENTION(BigBird, {.id = "bigbird",
                           .version = "1.0.0",
                           .summary = "blocks attend to neighbouring, random and global blocks, in linear time",
                           .paper = "Zaheer et al. 2020, arXiv 2007.14062, section 2 and appendix D",
                           .capabilities = {.key_padding = true,
                                            .holes = true,
                                            .rotary = true,
                                            .weight_dropout = true,
                                            .averages = true,
                                            .sparse = true,
                                            .half_precision = true},
                           .parameters = parameters,
                           .oracles = oracles})
