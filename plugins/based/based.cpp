// Based (Arora et al. 2024): linear attention whose feature map is the second-order Taylor series of softmax's exponential.
#include <cmath>

#include "ablate/decayed_sums.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"
#include "ablate/padding.h"

namespace {

using ablate::AttentionState;
using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("feature_channels", "16", {1, 64}, "channels of a head's queries and keys, d', before the feature map",
                    "channels"),
    ablate::integer("convolution", "0", {0, 64}, "tokens of a short convolution of queries, keys and values; 0: none",
                    "tokens"),
};

/// After a convolution, equal tokens differ if the tokens before them differ, so attention with a convolution does not average.
ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto can = declared;
  can.averages = values.integer("convolution") == 0;
  return can;
}

class Based final : public ablate::HeadwiseAttention {
 public:
  explicit Based(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, {.heads = context.parameters.integer("heads"),
                                    .d_key = context.parameters.integer("feature_channels"),
                                    .convolution = context.parameters.integer("convolution")}),
        d_key_(context.parameters.integer("feature_channels")),
        d_value_(context.width / heads()) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("based: queries and context have to be one sequence");
    const auto v = ablate::widened(input.v);
    // The last channel of the read is the sum of the weights.
    const auto values = ablate::with_ones(v), q = phi(ablate::widened(input.q));
    // phi(0) is not 0, so padding must be cleared from all sums.
    const auto k = ablate::clear_padding(phi(ablate::widened(input.k)), input.mask);
    const bool carried = !input.state.empty();
    auto state = carried ? input.state.front() : Tensor();
    Tensor read;
    if (causal()) {
      auto sums = ablate::decayed_sums(q, k, values, {}, state, fused());
      read = sums.values, state = sums.state;
    } else {
      const auto sums = k.transpose(-1, -2).matmul(values);
      state = carried ? state + sums : sums;
      read = q.matmul(state);
    }
    // A weight is 1 + s + s^2 / 2, at least 1/2, so the weights sum to 0 only if there is no key.
    const auto sum = read.narrow(3, d_value_, 1);
    HeadOutput output{.values = (read.narrow(3, 0, d_value_) / sum.masked_fill(sum <= 0, 1)).to(input.v.scalar_type())};
    if (carried) output.state = {state};
    return output;
  }

  /// Sums over all tokens read so far, in float32 or wider.
  AttentionState heads_state(std::int64_t batch) const override {
    return {ablate::zeros({batch, heads(), 1 + d_key_ + d_key_ * d_key_, d_value_ + 1},
                          ablate::wide_options(parameters().front().tensor))};
  }

  /// (1, y, y (x) y / sqrt(2)), y = x / d'^(1/4): phi(q).phi(k) = 1 + s + s^2 / 2 with s = q.k / sqrt(d') (section 4.1).
  Tensor phi(const Tensor& x) const {
    const auto scaled = x * std::pow(static_cast<double>(d_key_), -0.25);
    const auto squares = (scaled.unsqueeze(-1) * scaled.unsqueeze(-2)).flatten(-2) * std::sqrt(0.5);
    return ablate::cat({ablate::ones({x.size(0), x.size(1), x.size(2), 1}, x.options().requires_grad(false)), scaled, squares},
                       3);
  }

  std::int64_t d_key_, d_value_;
};

}  // namespace

ABLATE_ATTENTION(Based, {.id = "based",
                         .version = "1.0.0",
                         .summary = "linear attention by the second-order Taylor series of the exponential",
                         .paper = "Arora et al. 2024, arXiv 2402.18668, section 4.1",
                         .capabilities = {.causal = true,
                                          .key_padding = true,
                                          .stateful = true,
                                          .recurrent = true,
                                          .rotary = true,
                                          .averages = true,
                                          .half_precision = true},
                         .parameters = parameters,
                         .promises = promises})
