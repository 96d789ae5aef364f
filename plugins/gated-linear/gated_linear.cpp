// Gated linear attention (GLA, Yang et al. 2024): linear attention without a normaliser. Its sums decay per channel, by a rate
// that depends on the token.
#include "ablate/decayed_sums.h"
#include "ablate/padding.h"
#include "ablate/recurrent.h"

namespace {

using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "heads; must divide the widths (published: 4)"),
    ablate::text("decay", "\"learned\"", "learned|none",
                 "alpha = sigmoid(x W_1 W_2 + b)^(1 / temperature) of each key channel (section 4.4); or 1"),
    ablate::when("decay = learned", ablate::integer("rank", "16", {1, 1024}, "channels between W_1 and W_2", "channels")),
    ablate::when("decay = learned", ablate::real("temperature", "16", {1, 1024}, "a larger temperature decays more slowly")),
    ablate::boolean("norm", "true", "each head's output is normed"),
    ablate::boolean("gate", "true", "outputs are gated by swish of the layer's input"),
    ablate::real("key_width", "0.5", {0.125, 8}, "total channels of keys, as a multiple of the attention's width", "widths"),
    ablate::real("value_width", "1", {0.125, 8}, "total channels of values, as a multiple of the attention's width", "widths"),
    ablate::integer("convolution", "0", {0, 64},
                    "tokens of a short convolution of queries, keys and values; 0: none (the paper)", "tokens"),
};

class GatedLinear final : public ablate::RecurrentAttention {
 public:
  explicit GatedLinear(const ablate::AttentionContext& context)
      : RecurrentAttention(context, ablate::recurrent_options(context.parameters, ablate::HeadNorm::kRms,
                                                              context.parameters.real("key_width"))),
        temperature_(context.parameters.real("temperature")) {
    if (context.parameters.text("decay") == "none") return;
    const auto rank = context.parameters.integer("rank");
    down_ = register_module("decay_down", ablate::make_linear(context.d_model, rank, false, context.generator));
    up_ = register_module("decay_up", ablate::make_linear(rank, heads() * d_key(), true, context.generator));
  }

 private:
  ablate::Recurred recur(const ablate::Recurrence& of, const ablate::HeadInput& input) override {
    const auto log_decay = up_ ? ablate::clear_padding(log_alpha(of, input), input.mask) : Tensor();
    auto sums = ablate::decayed_sums(ablate::scaled(of.q), of.k, of.v, log_decay, of.state, fused());
    return {std::move(sums.values), std::move(sums.state)};
  }

  /// [batch, heads, n, d_key]
  Tensor log_alpha(const ablate::Recurrence& of, const ablate::HeadInput& input) const {
    const auto logits =
        ablate::split_heads(up_->forward(down_->forward(input.context, fused()), fused()), heads()).to(of.q.scalar_type());
    return ablate::softplus(logits.neg()) * (-1 / temperature_);
  }

  double temperature_;
  std::shared_ptr<ablate::Linear> down_, up_;  ///< W_1, W_2; null without decay
};

}  // namespace

ABLATE_ATTENTION(GatedLinear, {.id = "gated-linear",
                               .version = "1.0.0",
                               .summary = "sums that decay per channel, depending on the token, normed and gated; linear time",
                               .paper = "Yang et al. 2024, GLA, arXiv 2312.06635, sections 4.1 and 4.4",
                               .capabilities = {.causal = true,
                                                .key_padding = true,
                                                .stateful = true,
                                                .bidirectional = false,
                                                .recurrent = true,
                                                .half_precision = true},
                               .parameters = parameters,
                               .promises = ablate::recurrent_promises})
