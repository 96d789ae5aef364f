// Retention (RetNet, Sun et al. 2023): linear attention without a normaliser, with rotated queries and keys. In each head the
// sums decay at the head's own rate.
#include <cmath>

#include "ablate/decayed_sums.h"
#include "ablate/padding.h"
#include "ablate/recurrent.h"

namespace {

using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "heads, each with its own decay; must divide the widths"),
    ablate::text("decay", "\"multi-scale\"", "multi-scale|none",
                 "multi-scale: gamma = 1 - 2^(-5 - h) for head h, counted from 0 (Eq. 8); none: 1"),
    ablate::boolean("rotation", "true", "queries and keys are turned by their positions (Eq. 5)"),
    ablate::boolean("norm", "true", "each head's output is normed (Eq. 8: GroupNorm)"),
    ablate::when("norm = true", ablate::text("norm_kind", "\"layer\"", "layer|rms",
                                             "by mean and deviation, or only by root mean square, as in the authors' code")),
    ablate::boolean("gate", "true", "outputs are gated by swish of the layer's input (Eq. 8)"),
    ablate::real("value_width", "2", {0.125, 8}, "total channels of values, as a multiple of the attention's width", "widths"),
    ablate::integer("convolution", "0", {0, 64},
                    "tokens of a short convolution of queries, keys and values; 0: none (the paper)", "tokens"),
};

class Retention final : public ablate::RecurrentAttention {
 public:
  explicit Retention(const ablate::AttentionContext& context)
      : RecurrentAttention(context, ablate::recurrent_options(context.parameters, context.parameters.text("norm_kind") == "rms"
                                                                                      ? ablate::HeadNorm::kRms
                                                                                      : ablate::HeadNorm::kLayer)),
        decays_(context.parameters.text("decay") == "multi-scale"),
        rotates_(context.parameters.boolean("rotation")) {
    const auto heads = context.parameters.integer("heads");
    if (rotates_ && context.width / heads % 2 != 0)
      throw std::invalid_argument("heads = " + std::to_string(heads) + " leaves " + std::to_string(context.width / heads) +
                                  " channels per key; rotation needs an even number");
  }

 private:
  ablate::Recurred recur(const ablate::Recurrence& of, const ablate::HeadInput& input) override {
    const auto turned = [&](const Tensor& x) { return rotates_ ? ablate::rotate_positions(x, input.position, 0) : x; };
    auto sums = ablate::decayed_sums(turned(ablate::scaled(of.q)), turned(of.k), of.v,
                                     decays_ ? log_decay(of, input) : Tensor(), of.state, fused());
    return {std::move(sums.values), std::move(sums.state)};
  }

  /// [1, heads, n, 1]; with padding [batch, heads, n, 1]
  Tensor log_decay(const ablate::Recurrence& of, const ablate::HeadInput& input) const {
    const auto head = ablate::arange(heads(), of.q.options().requires_grad(false)).view({1, -1, 1, 1});
    const auto log_gamma = ((head + 5) * -std::log(2)).exp().neg().log1p();
    return ablate::clear_padding(log_gamma.expand({1, -1, of.q.size(2), 1}), input.mask);
  }

  bool decays_, rotates_;
};

}  // namespace

ABLATE_ATTENTION(Retention, {.id = "retention",
                             .version = "1.1.0",
                             .summary = "sums that decay at each head's own rate, rotated, normed and gated; linear time",
                             .paper = "Sun et al. 2023, RetNet, arXiv 2307.08621, Eq. 5 to 8",
                             .capabilities = {.causal = true,
                                              .key_padding = true,
                                              .stateful = true,
                                              .bidirectional = false,
                                              .recurrent = true,
                                              .half_precision = true},
                             .parameters = parameters,
                             .promises = ablate::recurrent_promises})
