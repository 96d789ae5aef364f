// Linear attention (Katharopoulos et al. 2020): a feature map replaces softmax's exponential, so all queries share one sum.
#include <cmath>
#include <limits>

#include "ablate/decayed_sums.h"
#include "ablate/headwise.h"
#include "ablate/kernel_attention.h"
#include "ablate/masked_softmax.h"

namespace {

using ablate::AttentionState;
using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::text("feature_map", "\"elu+1\"", "elu+1|relu", "phi in phi(q) (phi(K)^T V) / (phi(q) sum phi(K))"),
    ablate::text("normaliser", "\"sum\"", "sum|length",
                 "divisor of phi(q) (phi(K)^T V); sum: the sum of its weights; length: the root of the longest sequence's "
                 "length, as in the Long Range Arena code of Xiong et al. 2021"),
    ablate::integer("convolution", "0", {0, 64},
                    "tokens of a short convolution of queries, keys and values; 0: none (the paper)", "tokens"),
};

ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto result = declared;
  result.averages = values.text("normaliser") == "sum";  // otherwise repeated tokens weigh more
  // After a convolution, equal tokens differ if the tokens before them differ. A convolution needs one sequence without gaps.
  if (values.integer("convolution") > 0) result.averages = result.cross_attention = result.holes = false;
  return result;
}

class LinearAttention final : public ablate::HeadwiseAttention {
 public:
  explicit LinearAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(
            context, {.heads = context.parameters.integer("heads"), .convolution = context.parameters.integer("convolution")}),
        map_(context.parameters.text("feature_map") == "relu" ? ablate::FeatureMap::kRelu : ablate::FeatureMap::kElu),
        divisor_(context.parameters.text("normaliser") == "sum" ? 0 : std::sqrt(static_cast<double>(context.max_length))) {}

 private:
  Tensor in_one(const ablate::AttentionInput& input, const ablate::Projections& by, bool fused) const override {
    if (causal() || divisor_ > 0) return {};
    return ablate::projected_kernel_attention(input.queries, input.context, input.mask, by, map_, fused);
  }

  /// Rotary positions are applied before phi, so weights stay positive and depend on more than the distance.
  /// (Su et al. 2021, Eq. 19, rotate phi(q) and phi(k), in the numerator only.)
  HeadOutput attend(const HeadInput& input) override {
    // For elu + 1, phi(0) is 1, so padded keys must be removed from the numerator, the denominator and the state.
    if (!causal() && input.state.empty() && divisor_ == 0) {
      const auto mass = input.mask.defined() ? input.mask.to(input.q.scalar_type()).unsqueeze(1) : Tensor();
      return {.values = ablate::kernel_attention(input.q, input.k, input.v, mass, map_)};
    }
    if (!input.state.empty() && !input.self) throw std::logic_error("linear: a state needs self-attention");
    const auto type = input.q.scalar_type();
    const auto q = ablate::kernel_features(ablate::widened(input.q), map_), v = ablate::widened(input.v);
    auto k = ablate::kernel_features(ablate::widened(input.k), map_);
    if (input.mask.defined()) k = k.masked_fill(input.mask.logical_not().unsqueeze(1).unsqueeze(-1), 0);
    // The last channel of the read is the sum of the weights.
    const auto values = divisor_ > 0 ? v : ablate::with_ones(v);
    auto state = input.state.empty() ? Tensor() : input.state.front();
    Tensor read;
    if (causal()) {
      // Query i reads keys 0 to i (Eq. 9 to 12). If there are fewer keys than queries, fit() adds keys whose features are 0,
      // which change no read. If there are more keys, the last keys come after all queries, so fit() cuts them.
      const auto fit = [&](const Tensor& x) { return ablate::pad(x, {0, 0, 0, q.size(2) - x.size(2)}); };
      auto sums = ablate::decayed_sums(q, fit(k), fit(values), {}, state, fused());
      read = sums.values, state = sums.state;
    } else {
      const auto sums = k.transpose(-1, -2).matmul(values);
      state = state.defined() ? state + sums : sums;
      read = q.matmul(state);
    }
    HeadOutput output{.values = normalised(read).to(type)};
    if (!input.state.empty()) output.state = {state};
    return output;
  }

  /// Sums over all tokens read: phi(k) v^T, and phi(k). Float32 or wider, because sums in half precision stop growing.
  AttentionState heads_state(std::int64_t batch) const override {
    const auto columns = d_head() + (divisor_ > 0 ? 0 : 1);
    return {ablate::zeros({batch, heads(), d_head(), columns}, ablate::wide_options(parameters().front().tensor))};
  }

  // The sum of weights is 0 if no key is left or, with relu, if no key shares a feature with the query. Then the query reads 0:
  // dividing by infinity makes its value and all its gradients 0.
  Tensor normalised(const Tensor& read) const {
    if (divisor_ > 0) return read / divisor_;
    const auto sum = read.narrow(3, d_head(), 1);
    const auto nothing = sum <= ablate::least_kernel_sum(sum);
    return read.narrow(3, 0, d_head()) / sum.masked_fill(nothing, std::numeric_limits<double>::infinity());
  }

  ablate::FeatureMap map_;
  double divisor_;  ///< divides the sums of values; 0: the sum of the weights divides them
};

}  // namespace

ABLATE_ATTENTION(LinearAttention, {.id = "linear",
                                   .version = "1.4.0",
                                   .summary = "kernel attention in linear time, normalised",
                                   .paper = "Katharopoulos et al. 2020, arXiv 2006.16236, Eq. 4 to 12 and 16 to 20",
                                   .capabilities = {.causal = true,
                                                    .key_padding = true,
                                                    .cross_attention = true,
                                                    .stateful = true,
                                                    .holes = true,
                                                    .recurrent = true,
                                                    .rotary = true,
                                                    .averages = true,
                                                    .half_precision = true},
                                   .parameters = parameters,
                                   .promises = promises})
