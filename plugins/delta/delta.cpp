// DeltaNet (Schlag et al. 2021; Yang et al. 2024): a state that forgets what it holds under a key where it learns another value
// for it; with a gate, Gated DeltaNet (Yang et al. 2025).
#include <cmath>

#include "ablate/padding.h"
#include "chunks.h"

namespace {

using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "heads; must divide the widths"),
    ablate::text("decay", "\"none\"", "none|learned",
                 "of the state by the token and the head (Gated DeltaNet), or none (DeltaNet)"),
    ablate::boolean("gate", "false", "outputs are gated by swish of the layer's input (Gated DeltaNet)"),
    ablate::boolean("norm", "true", "each head's output is normed"),
    ablate::real("key_width", "1", {0.125, 8}, "channels of all heads' keys, times the width", "widths"),
    ablate::real("value_width", "1", {0.125, 8}, "channels of all heads' values, times the width", "widths"),
    ablate::integer("convolution", "4", {0, 64}, "tokens of a short convolution of queries, keys and values; 0: none",
                    "tokens"),
};

/// x / |x|; 0 stays 0.
Tensor unit(const Tensor& x) { return x * (x.square().sum(-1, true) + 1e-6).rsqrt(); }

class Delta final : public ablate::RecurrentAttention {
 public:
  explicit Delta(const ablate::AttentionContext& context)
      : RecurrentAttention(context, ablate::recurrent_options(context.parameters, ablate::HeadNorm::kRms,
                                                              context.parameters.real("key_width"))),
        activates_(context.parameters.integer("convolution") == 0) {
    beta_ = register_module("beta", ablate::make_linear(context.d_model, heads(), false, context.generator));
    if (context.parameters.text("decay") == "none") return;
    step_ = register_module("step", ablate::make_linear(context.d_model, heads(), false, context.generator));
    // As in Mamba-2: A from 1 to 16, steps from 0.001 to 0.1, both evenly in logarithms or as drawn, without weight decay.
    const auto drawn = [&](double from, double to) { return ablate::empty({heads()}).uniform_(from, to, context.generator); };
    log_rate_ = register_parameter("log_rate", drawn(1, 16).log(), {.decay = false});
    const auto step = drawn(std::log(0.001), std::log(0.1)).exp();
    step_bias_ = register_parameter("step_bias", step + (-(-step).expm1()).log(), {.decay = false});  // softplus gives step
  }

 private:
  ablate::Recurred recur(const ablate::Recurrence& of, const ablate::HeadInput& input) override {
    const auto active = [&](const Tensor& x) { return activates_ ? ablate::silu(x) : x; };
    const auto beta = by_head(beta_->forward(input.context), of.q).sigmoid();
    const ablate::Recurrence turned{
        .q = ablate::scaled(unit(active(of.q))), .k = unit(active(of.k)), .v = active(of.v), .state = of.state};
    return ablate::delta::delta_rule(turned, beta, ablate::clear_padding(log_decay(of, input), input.mask));
  }

  /// [batch, heads, n, 1]: -A softplus(x W + b).
  Tensor log_decay(const ablate::Recurrence& of, const ablate::HeadInput& input) const {
    if (!step_) return ablate::zeros({1, 1, of.q.size(2), 1}, of.q.options().requires_grad(false));
    const auto own = [&](const Tensor& x) { return x.to(of.q.scalar_type()).view({1, -1, 1, 1}); };
    const auto step = ablate::softplus(by_head(step_->forward(input.context), of.q) + own(step_bias_));
    return step * own(log_rate_).exp().neg();
  }

  /// [batch, n, heads] -> [batch, heads, n, 1], of q's type
  static Tensor by_head(const Tensor& x, const Tensor& q) { return x.transpose(1, 2).unsqueeze(-1).to(q.scalar_type()); }

  bool activates_;  ///< SiLU of q, k and v, where no convolution has it
  std::shared_ptr<ablate::Linear> beta_, step_;
  Tensor log_rate_, step_bias_;  ///< [heads]
};

}  // namespace

ABLATE_ATTENTION(Delta,
                 {.id = "delta",
                  .version = "1.0.0",
                  .summary = "a state that is corrected by the delta rule, decaying or not; linear time",
                  .paper = "Yang et al. 2024, DeltaNet, arXiv 2406.06484; Yang et al. 2025, Gated DeltaNet, arXiv 2412.06464",
                  .capabilities = {.causal = true,
                                   .key_padding = true,
                                   .stateful = true,
                                   .bidirectional = false,
                                   .recurrent = true,
                                   .half_precision = true},
                  .parameters = parameters,
                  .promises = ablate::recurrent_promises})
