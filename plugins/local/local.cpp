// Local attention: tokens stand in blocks of a window, and a block attends to itself and its neighbours, the one before it
// alone when causal. No [n, n] matrix is made: a window's worth of scores for each token, 2 or 3 times.
#include "ablate/dropout.h"
#include "ablate/headwise.h"

namespace {

constexpr ablate::Oracle oracles[] = {{R"({"window": 4096})", "softmax"}};

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("window", "64", {1, 65536}, "tokens of a block", "tokens"),
};

/// Each block with its neighbours: item i is the blocks i to i + span - 1 of x, which has the neighbours at its ends.
/// @param x [batch, heads, blocks * window, d] @return [batch, heads, blocks - span + 1, span * window, d]
Tensor with_neighbours(const Tensor& x, std::int64_t window, std::int64_t span) {
  return x.unfold(2, span * window, window).transpose(-1, -2);
}

class LocalAttention final : public ablate::HeadwiseAttention {
 public:
  // Of earlier segments the block before the first one is kept: where segments are whole blocks, what they see is what they
  // would see in one piece.
  explicit LocalAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context,
                          {.heads = context.parameters.integer("heads"), .memory = context.parameters.integer("window")}),
        window_(context.parameters.integer("window")) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("local: queries and context have to be one sequence");
    const auto n = input.q.size(2), batch = input.q.size(0);
    // Without a memory a larger block than the sequence is the sequence.
    const auto window = input.offset > 0 ? window_ : std::min(window_, n);
    const auto ragged = (window - n % window) % window, blocks = (n + ragged) / window;
    const std::int64_t span = causal() ? 2 : 3;
    const auto before = window - input.offset, behind = ragged + (causal() ? 0 : window);
    const auto gather = [&](const Tensor& x) {
      const auto all = with_neighbours(ablate::pad(x, {0, 0, before, behind}), window, span);
      return all.transpose(1, 2).flatten(0, 1);  // [batch * blocks, heads, span * window, d]
    };
    const auto q = ablate::pad(input.q, {0, 0, 0, ragged}).unflatten(2, {blocks, window}).transpose(1, 2).flatten(0, 1);
    const auto seen = visible(input, {before, behind}, window, span).expand({batch, -1, -1, -1});
    const auto k = gather(input.k), v = gather(input.v), allowed = seen.flatten(0, 1).unsqueeze(1);
    const auto values = dropout() > 0 ? ablate::dropped_attention(q, k, v, allowed, false, dropout(), input.generator)
                                      : ablate::scaled_dot_product_attention(q, k, v, allowed);
    return {.values = values.unflatten(0, {batch, blocks}).transpose(1, 2).flatten(2, 3).narrow(2, 0, n)};
  }

  /// @param padding of the keys before and behind @return [batch, or 1, blocks, window, span * window]
  Tensor visible(const HeadInput& input, std::pair<std::int64_t, std::int64_t> padding, std::int64_t window,
                 std::int64_t span) const {
    const auto options = input.q.options().dtype(ablate::kBool).requires_grad(false);
    auto keys = input.mask.defined() ? input.mask : ablate::ones({1, input.k.size(2)}, options);
    keys = ablate::pad(keys, {padding.first, padding.second}, false).unfold(1, span * window, window).unsqueeze(2);
    const auto near = ablate::ones({window, span * window}, options);
    const auto seen = keys.logical_and(causal() ? near.tril(window) : near);
    // Where there is no key a mean would be 0/0. All may be seen then: their values are 0, and so is the mean.
    return seen.logical_or(seen.any(-1, true).logical_not());
  }

  std::int64_t window_;
};

}  // namespace

ABLATE_ATTENTION(LocalAttention, {.id = "local",
                                  .version = "1.0.0",
                                  .summary = "softmax attention within blocks and to their neighbours, in linear time",
                                  .paper = "Parmar et al. 2018, arXiv 1802.05751, 1D local attention",
                                  .capabilities = {.causal = true,
                                                   .key_padding = true,
                                                   .stateful = true,
                                                   .rotary = true,
                                                   .weight_dropout = true,
                                                   .averages = true,
                                                   .sparse = true,
                                                   .half_precision = true},
                                  .parameters = parameters,
                                  .oracles = oracles})
