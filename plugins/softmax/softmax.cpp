// Softmax attention (Vaswani et al. 2017) through torch's fused kernel, which keeps no [n, n] matrix.
#include <ATen/core/Tensor.h>
#include <ATen/ops/rms_norm_ops.h>

#include "ablate/dropout.h"
#include "ablate/headwise.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::boolean("qk_norm", "false", "queries and keys by their RMS, times a learned number a head"),
};

class SoftmaxAttention final : public ablate::HeadwiseAttention {
 public:
  explicit SoftmaxAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")) {
    if (context.parameters.boolean("qk_norm"))
      gain_ = register_parameter("gain", ablate::ones({heads(), 1, 1}), {.decay = false});
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!gain_.defined()) return read(input);
    auto normed = input;
    normed.q = of_one_size(input.q) * gain_, normed.k = of_one_size(input.k);
    return read(normed);
  }

  /// x over the root of its mean square over the channels. Rotary positions, which have turned x, change no length.
  static Tensor of_one_size(const Tensor& x) {
    constexpr double kEpsilon = 1e-5;  // as of the model's norms
    return at::_ops::rms_norm::call(x, c10::SymIntArrayRef(x.sym_sizes().slice(3)), {}, kEpsilon);
  }

  HeadOutput read(const HeadInput& input) const {
    const auto& mask = input.mask;
    // Of padding at the end no real query can see any in causal self-attention: the kernel runs without a mask.
    if (!mask.defined() || (causal() && input.self && !has_holes(mask))) return {.values = weighted(input, {}, causal())};
    // An item without a token would give 0/0. It may attend to all of its keys instead: their values are 0, and so is the mean.
    auto allowed = mask.logical_or(mask.any(-1, true).logical_not()).unsqueeze(1).unsqueeze(1);
    if (causal()) {
      const auto earlier = ablate::ones({input.q.size(2), input.k.size(2)}, mask.options()).tril();
      allowed = allowed.logical_and(earlier);
      allowed = allowed.logical_or(earlier.logical_and(allowed.any(-1, true).logical_not()));  // before the first token, alike
    }
    return {.values = weighted(input, allowed, false)};
  }

  static bool has_holes(const Tensor& mask) {
    const auto n = mask.size(1);
    return mask.narrow(1, 1, n - 1).logical_and(mask.narrow(1, 0, n - 1).logical_not()).any().item<bool>();
  }

  Tensor weighted(const HeadInput& input, const Tensor& allowed, bool is_causal) const {
    if (dropout() > 0)
      return ablate::dropped_attention(input.q, input.k, input.v, allowed, is_causal, dropout(), input.generator);
    return ablate::scaled_dot_product_attention(input.q, input.k, input.v, allowed, is_causal);
  }

  Tensor gain_;  ///< [heads, 1, 1]; undefined: queries and keys are as they are projected
};

}  // namespace

ABLATE_ATTENTION(SoftmaxAttention, {.id = "softmax",
                                    .version = "1.1.0",
                                    .summary = "scaled dot-product attention, torch's fused kernel",
                                    .paper = "Vaswani et al. 2017, arXiv 1706.03762, Eq. 1",
                                    .capabilities = {.causal = true,
                                                     .key_padding = true,
                                                     .cross_attention = true,
                                                     .holes = true,
                                                     .rotary = true,
                                                     .weight_dropout = true,
                                                     .averages = true,
                                                     .half_precision = true,
                                                     .time_exponent = 2,
                                                     .memory_exponent = 1},
                                    .parameters = parameters})
