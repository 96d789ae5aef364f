// Random feature attention (Peng et al. 2021): kernel attention of normalised queries and keys. If it is causal, a gate lets
// the sums decay.
#include <cmath>

#include "ablate/decayed_sums.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"
#include "ablate/padding.h"
#include "ablate/random_features.h"

namespace {

using ablate::AttentionState;
using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("features", "64", {1, 65536}, "D: random vectors of a head"),
    ablate::text("kernel", "\"gaussian\"", "gaussian|arc-cosine",
                 "gaussian: sines and cosines of w.x; arc-cosine: relu(w.x), one feature per vector"),
    ablate::boolean("gate", "true", "causal sums decay by a gate of each token and head (section 3.2)"),
};

// Weights of sines and cosines may sum to nearly 0 or less, which makes the quotient meaningless. By Cauchy and Schwarz no
// weight is above 1, which bounds the sum of the weights. The sum is raised to at least this share of its bound.
constexpr double kLeastShare = 1e-3;

class RandomFeatureAttention final : public ablate::HeadwiseAttention {
 public:
  explicit RandomFeatureAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        gaussian_(context.parameters.text("kernel") == "gaussian"),
        vectors_(
            register_module("features", std::make_shared<ablate::FeatureVectors>(
                                            heads(), context.parameters.integer("features"), d_head(), 0, context.generator))) {
    width_ = register_parameter("width", ablate::ones({heads(), 1, d_head()}));
    if (causal() && context.parameters.boolean("gate"))
      gate_ = register_module("gate", ablate::make_linear(context.d_model, heads(), true, context.generator));
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.state.empty() && !input.self) throw std::logic_error("rfa: a state needs self-attention");
    const auto type = input.q.scalar_type();
    const auto v = ablate::widened(input.v);
    // The last channel of the read is the sum of the weights. The bound of that sum is read in the same way, from a single
    // feature per key: the greatest possible weight of the key.
    const auto one = ablate::ones({v.size(0), v.size(1), v.size(2), 1}, v.options().requires_grad(false));
    const auto values = ablate::with_ones(v), q = phi(ablate::widened(input.q));
    auto k = ablate::clear_padding(phi(ablate::widened(input.k)), input.mask), bound = ablate::clear_padding(one, input.mask);
    Tensor read, most;
    AttentionState state = input.state;
    if (causal()) {
      // If there are fewer keys than queries, fit() adds keys of weight 0. If there are more keys, the last keys come after all
      // queries, so fit() cuts them.
      const auto n = q.size(2);
      const auto fit = [n](const Tensor& x) { return ablate::pad(x, {0, 0, 0, n - x.size(2)}); };
      k = fit(k), bound = fit(bound);
      const auto ones = ablate::ones({v.size(0), v.size(1), n, 1}, one.options());
      Tensor log_keep;  // undefined: no decay
      if (gate_) {
        const auto logits =
            ablate::widened(gate_->forward(input.context)).transpose(1, 2).unsqueeze(-1);  // [batch, heads, n, 1]
        const auto share = fit(logits.neg().sigmoid());
        k = k * share, bound = bound * share;
        log_keep = fit(ablate::clear_padding(-ablate::softplus(-logits), input.mask));
      }
      auto sums = ablate::decayed_sums(q, k, fit(values), log_keep, state.empty() ? Tensor() : state[0], fused());
      auto bounds = ablate::decayed_sums(ones, bound, ones, log_keep, state.empty() ? Tensor() : state[1], fused());
      read = sums.values, most = bounds.values;
      if (!state.empty()) state = {sums.state, bounds.state};
    } else {
      auto sums = k.transpose(-1, -2).matmul(values), bounds = bound.sum(2, true);
      if (!state.empty()) {
        sums = sums + state[0], bounds = bounds + state[1];
        state = {sums, bounds};
      }
      read = q.matmul(sums), most = bounds;
    }
    return {.values = quotient(read, most).to(type), .state = state};
  }

  /// The sums over tokens read so far, and their bounds. Float32 or wider.
  AttentionState heads_state(std::int64_t batch) const override {
    const auto options = ablate::wide_options(parameters().front().tensor);
    const auto columns = vectors_->vectors.size(1) * (gaussian_ ? 2 : 1);
    return {ablate::zeros({batch, heads(), columns, d_head() + 1}, options), ablate::zeros({batch, heads(), 1, 1}, options)};
  }

  /// Features of x / |x| with learned widths (Eq. 4, section 3.1). Dot products of Gaussian features are at most 1.
  Tensor phi(const Tensor& x) const {
    const auto length = x.norm(2, -1, true).clamp_min(1e-6);
    const auto vectors = (vectors_->vectors * width_).to(x.scalar_type());
    const auto phase = (x / length).matmul(vectors.transpose(-1, -2));
    const auto share = 1 / std::sqrt(static_cast<double>(phase.size(-1)));
    return (gaussian_ ? ablate::cat({phase.sin(), phase.cos()}, -1) : phase.relu()) * share;
  }

  /// Returns the weighted mean, or 0 if there is nothing to read: then the divisor is 1.
  Tensor quotient(const Tensor& read, const Tensor& most) const {
    auto sum = read.narrow(3, d_head(), 1);
    if (gaussian_) sum = sum.maximum(most * kLeastShare);
    return read.narrow(3, 0, d_head()) / sum.masked_fill(sum <= 0, 1);
  }

  bool gaussian_;
  std::shared_ptr<ablate::FeatureVectors> vectors_;
  Tensor width_;                          ///< [heads, 1, d_head]: sigma of section 3.1
  std::shared_ptr<ablate::Linear> gate_;  ///< per head; null: no gate
};

}  // namespace

ABLATE_ATTENTION(RandomFeatureAttention, {.id = "rfa",
                                          .version = "1.0.0",
                                          .summary = "random feature attention, gated when causal, in linear time",
                                          .paper = "Peng et al. 2021, arXiv 2103.02143, sections 3.1 and 3.2",
                                          .capabilities = {.causal = true,
                                                           .key_padding = true,
                                                           .cross_attention = true,
                                                           .stateful = true,
                                                           .holes = true,
                                                           .recurrent = true,
                                                           .rotary = true,
                                                           .half_precision = true},
                                          .parameters = parameters})
