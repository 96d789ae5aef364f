// Mamba-2 (Dao and Gu 2024): a state space whose decay, input and output depend on the token, computed by its dual form, a
// decayed linear attention.
#include <cmath>

#include "ablate/decayed_sums.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"
#include "ablate/padding.h"
#include "ablate/short_convolution.h"

namespace {

using ablate::AttentionState;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 256},
                    "heads; must divide the inner width, which is expand times the attention's width (published: 64 channels "
                    "per head)"),
    ablate::real("expand", "2", {0.25, 8}, "inner channels, as a multiple of the attention's width", "widths"),
    ablate::integer("state", "64", {1, 1024}, "N: channels of B and C, which all heads share (published: 64 to 256)",
                    "channels"),
    ablate::integer("convolution", "4", {0, 64}, "tokens of the short convolution of x, B and C; 0: none, only SiLU", "tokens"),
};

constexpr double kLeastStep = 1e-3, kMostStep = 0.1;  // range of the initial time steps, as published
constexpr double kEpsilon = 1e-5;

class Mamba2 final : public ablate::Attention {
 public:
  explicit Mamba2(const ablate::AttentionContext& context)
      : heads_(context.parameters.integer("heads")),
        states_(context.parameters.integer("state")),
        carries_(context.carries),
        fused_(context.fused) {
    const auto expand = context.parameters.real("expand");
    const double exact = expand * static_cast<double>(context.width) / static_cast<double>(heads_);
    if (exact < 1 || exact != std::floor(exact))
      throw std::invalid_argument("heads = " + std::to_string(heads_) + " does not divide the inner width, which is expand = " +
                                  std::to_string(expand) + " times " + std::to_string(context.width));
    inner_ = heads_ * static_cast<std::int64_t>(exact);
    const auto& generator = context.generator;
    // z, x, B, C and the time steps, in this order.
    in_ = register_module("in", ablate::make_linear(context.d_model, 2 * inner_ + 2 * states_ + heads_, false, generator));
    if (const auto tokens = context.parameters.integer("convolution"); tokens > 0) {
      const double bound = 1 / std::sqrt(static_cast<double>(tokens));
      filter_ = register_parameter("filter", ablate::empty({channels(), tokens}).uniform_(-bound, bound, generator));
      filter_bias_ = register_parameter("filter_bias", ablate::empty({channels()}).uniform_(-bound, bound, generator));
    }
    // Inverse softplus of a log-uniform time step, and a rate A that is uniform in [1, 16]. Neither has weight decay.
    const auto step =
        (ablate::empty({heads_}).uniform_(0, 1, generator) * std::log(kMostStep / kLeastStep) + std::log(kLeastStep)).exp();
    step_bias_ = register_parameter("step_bias", step + (-(-step).expm1()).log(), {.decay = false});
    log_a_ = register_parameter("log_a", ablate::empty({heads_}).uniform_(1, 16, generator).log(), {.decay = false});
    skip_ = register_parameter("skip", ablate::ones({heads_}), {.decay = false});
    gain_ = register_parameter("gain", ablate::ones({inner_}));
    out_ = register_module("out", ablate::make_linear(inner_, context.d_model, false, generator));
  }

 private:
  ablate::AttentionOutput do_forward(const ablate::AttentionInput& input) override {
    if (!input.queries.is_same(input.context)) throw std::logic_error("mamba2: queries and context have to be one sequence");
    const auto tokens =
        input.mask.defined() ? input.queries.masked_fill(input.mask.logical_not().unsqueeze(-1), 0) : input.queries;
    const auto parts = in_->forward(tokens, fused_).split_with_sizes({inner_, channels(), heads_}, 2);
    const auto& gate = parts[0];
    const bool carried = !input.state.empty();
    ablate::AttentionOutput output;
    const auto active = ablate::widened(convolved(parts[1], input, output.state));
    const auto fields = active.split_with_sizes({inner_, states_, states_}, 2);
    const auto x = ablate::split_heads(fields[0], heads_);  // [batch, heads, n, inner / heads]
    const auto step = ablate::softplus(ablate::widened(parts[2]) + ablate::widened(step_bias_)).transpose(1, 2).unsqueeze(-1);
    // Padding neither adds nor decays, because its time step is 0.
    const auto time = ablate::clear_padding(step, input.mask);  // [batch, heads, n, 1]
    const auto log_decay = time * ablate::widened(log_a_).exp().neg().view({-1, 1, 1});
    const auto sums = ablate::decayed_sums(fields[2].unsqueeze(1), fields[1].unsqueeze(1), x * time, log_decay,
                                           carried ? input.state.back() : Tensor(), fused_);
    const auto y = ablate::merge_heads(sums.values + x * ablate::widened(skip_).view({-1, 1, 1}));
    const auto gated = y * ablate::silu(ablate::widened(gate));
    const auto normed = gated * (gated.square().mean(-1, true) + kEpsilon).rsqrt() * ablate::widened(gain_);
    output.output = out_->forward(normed.to(tokens.scalar_type()), fused_);
    if (carried) output.state.push_back(sums.state);
    return output;
  }

  /// Returns SiLU of the convolution, or of x without a convolution. The tokens before a segment come from its state, and the
  /// segment's last tokens go into `state`.
  /// @param x [batch, n, channels()]
  Tensor convolved(const Tensor& x, const ablate::AttentionInput& input, AttentionState& state) const {
    if (!filter_.defined()) return ablate::silu(x);
    const bool carried = !input.state.empty();
    const auto before = carried ? input.state.front() : Tensor();
    if (carried) state.push_back(ablate::last_tokens(before, x, input.mask));
    return ablate::short_convolution({x, filter_, filter_bias_, before}, fused_);
  }

  AttentionState do_initial_state(std::int64_t batch) const override {
    AttentionState state;
    if (!carries_) return state;
    if (filter_.defined())
      state.push_back(ablate::zeros({batch, filter_.size(1) - 1, channels()}, filter_.options().requires_grad(false)));
    state.push_back(ablate::zeros({batch, heads_, states_, inner_ / heads_}, ablate::wide_options(gain_)));
    return state;
  }

  std::vector<std::shared_ptr<ablate::Linear>> do_output_projections() const override { return {out_}; }

  std::int64_t channels() const { return inner_ + 2 * states_; }  ///< channels of the convolution's input

  std::int64_t heads_, states_, inner_ = 0;
  bool carries_, fused_;
  std::shared_ptr<ablate::Linear> in_, out_;
  Tensor filter_, filter_bias_;      ///< [channels(), tokens], [channels()]; undefined: no convolution
  Tensor step_bias_, log_a_, skip_;  ///< [heads]: dt's bias, log A, D
  Tensor gain_;                      ///< [inner], gain of the norm
};

}  // namespace

ABLATE_ATTENTION(Mamba2, {.id = "mamba2",
                          .version = "1.1.0",
                          .summary = "a selective state space in its dual form, decayed linear attention; linear time",
                          .paper = "Dao and Gu 2024, arXiv 2405.21060, sections 5 to 7",
                          .capabilities = {.causal = true,
                                           .key_padding = true,
                                           .stateful = true,
                                           .bidirectional = false,
                                           .recurrent = true,
                                           .half_precision = true},
                          .parameters = parameters})
