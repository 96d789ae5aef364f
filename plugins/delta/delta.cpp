// DeltaNet (Schlag et al. 2021; Yang et al. 2024): the state erases the old value of a key when it writes a new value. Includes
// the successors: Gated DeltaNet, Kimi Delta Attention, Gated DeltaNet-2, DeltaProduct, negative eigenvalues.
#include <cmath>

#include "ablate/delta_rule.h"
#include "ablate/padding.h"
#include "ablate/recurrent.h"

namespace {

using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "heads; must divide the widths"),
    ablate::text("decay", "\"none\"", "none|learned|channel",
                 "decay of the state: none (DeltaNet), learned per head (Gated DeltaNet), or per key channel (KDA)"),
    ablate::boolean("gate", "false", "outputs are gated by swish of the layer's input (Gated DeltaNet)"),
    ablate::boolean("norm", "true", "each head's output is normed"),
    ablate::real("key_width", "1", {0.125, 8}, "total channels of keys, as a multiple of the attention's width", "widths"),
    ablate::real("value_width", "1", {0.125, 8}, "total channels of values, as a multiple of the attention's width", "widths"),
    ablate::integer("convolution", "4", {0, 64}, "tokens of a short convolution of queries, keys and values; 0: none",
                    "tokens"),
    ablate::text(
        "erase", "\"beta\"", "beta|head|channel",
        "strength that erases a key's old value: beta, which also writes, or a separate one per head or key channel (GDN-2)"),
    ablate::text("write", "\"beta\"", "beta|channel",
                 "strength that writes the new value: beta per head, or one per value channel (GDN-2)"),
    ablate::boolean("negative_eigenvalues", "false",
                    "erase strengths reach 2 instead of 1, and eigenvalues -1 (Grazzi et al.)"),
    ablate::integer("householder_steps", "1", {1, 8},
                    "successive writes per token, each with its own key, value and strength (DeltaProduct)"),
};

/// x / |x|; 0 stays 0.
Tensor unit(const Tensor& x) { return x * (x.square().sum(-1, true) + 1e-6).rsqrt(); }

ablate::RecurrentOptions options_of(const ablate::Values& values) {
  auto options = ablate::recurrent_options(values, ablate::HeadNorm::kRms, values.real("key_width"));
  options.writes = values.integer("householder_steps");
  return options;
}

class Delta final : public ablate::RecurrentAttention {
 public:
  explicit Delta(const ablate::AttentionContext& context)
      : RecurrentAttention(context, options_of(context.parameters)),
        activates_(context.parameters.integer("convolution") == 0),
        most_erased_(context.parameters.boolean("negative_eigenvalues") ? 2 : 1),
        steps_(context.parameters.integer("householder_steps")) {
    const auto decay = context.parameters.text("decay"), erase = context.parameters.text("erase"),
               write = context.parameters.text("write");
    const auto make = [&](const char* name, std::int64_t inputs, std::int64_t outputs) {
      return register_module(name, ablate::make_linear(inputs, outputs, false, context.generator));
    };
    if (erase == "beta" || write == "beta") beta_ = make("beta", context.d_model, heads() * steps_);
    if (erase != "beta") erase_ = make("erase", context.d_model, heads() * steps_ * (erase == "head" ? 1 : d_key()));
    if (write != "beta") write_ = make("write", context.d_model, heads() * steps_ * d_value());
    if (decay == "none") return;
    const auto channels = heads() * (decay == "channel" ? d_key() : 1);
    step_ = make("step", context.d_model, decay == "channel" ? d_value() : channels);
    if (decay == "channel") step_up_ = make("step_up", d_value(), channels);
    // The rate A is uniform in 1 to 16 and step sizes are log-uniform in 0.001 to 0.1, both without weight decay (Mamba-2).
    const auto drawn = [&](std::int64_t count, double from, double to) {
      return ablate::empty({count}).uniform_(from, to, context.generator);
    };
    log_rate_ = register_parameter("log_rate", drawn(heads(), 1, 16).log(), {.decay = false});
    const auto step = drawn(channels, std::log(0.001), std::log(0.1)).exp();
    step_bias_ = register_parameter("step_bias", step + (-(-step).expm1()).log(), {.decay = false});  // inverse of softplus
  }

 private:
  ablate::Recurred recur(const ablate::Recurrence& of, const ablate::HeadInput& input) override {
    const auto active = [&](const Tensor& x) { return activates_ ? ablate::silu(x) : x; };
    // The decay of a token comes before its first step, and its read comes after its last step.
    const auto step_by_step = [&](const Tensor& x, std::int64_t place) {
      return ablate::pad(x.unsqueeze(3), {0, 0, place, steps_ - 1 - place}).flatten(2, 3);
    };
    const auto strength = strengths(of, input);
    const auto sums = ablate::delta_rule({.q = step_by_step(ablate::scaled(unit(active(of.q))), steps_ - 1),
                                          .k = unit(active(of.k)),
                                          .v = active(of.v),
                                          .erase = strength.erase,
                                          .write = strength.write,
                                          .log_decay = step_ ? step_by_step(log_decay(of, input), 0) : Tensor(),
                                          .state = of.state},
                                         fused());
    return {sums.values.unflatten(2, {-1, steps_}).select(3, steps_ - 1), sums.state};
  }

  struct Strengths {
    Tensor erase, write;
  };

  Strengths strengths(const ablate::Recurrence& of, const ablate::HeadInput& input) const {
    const auto strength = [&](const std::shared_ptr<ablate::Linear>& of_input) {
      if (!of_input) return Tensor();
      return by_head(of_input->forward(input.context), of.q).unflatten(3, {steps_, -1}).flatten(2, 3).sigmoid();
    };
    auto beta = strength(beta_), erase = erase_ ? strength(erase_) : beta;
    if (most_erased_ != 1) erase = erase * most_erased_;
    if (!erase_) beta = erase;  // one strength erases and writes
    return {.erase = erase, .write = write_ ? strength(write_) : beta};
  }

  /// [batch, heads, n, 1 or d_key]: -A softplus(x W + b); 0 at padding.
  Tensor log_decay(const ablate::Recurrence& of, const ablate::HeadInput& input) const {
    const auto own = [&](const Tensor& x) { return x.to(of.q.scalar_type()).view({1, heads(), 1, -1}); };
    const auto projected = step_->forward(input.context);
    const auto step = ablate::softplus(by_head(step_up_ ? step_up_->forward(projected) : projected, of.q) + own(step_bias_));
    return ablate::clear_padding(step * own(log_rate_).exp().neg(), input.mask);
  }

  /// [batch, n, heads c] -> [batch, heads, n, c], of q's type
  Tensor by_head(const Tensor& x, const Tensor& q) const { return ablate::split_heads(x, heads()).to(q.scalar_type()); }

  bool activates_;  ///< true if SiLU is applied to q, k and v, because no convolution applies it
  double most_erased_;
  std::int64_t steps_;
  std::shared_ptr<ablate::Linear> beta_, erase_, write_;  ///< null if unused
  std::shared_ptr<ablate::Linear> step_, step_up_;
  Tensor log_rate_, step_bias_;  ///< [heads]; [heads], or [heads d_key] for a decay per channel
};

}  // namespace

ABLATE_ATTENTION(Delta,
                 {.id = "delta",
                  .version = "1.1.0",
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
