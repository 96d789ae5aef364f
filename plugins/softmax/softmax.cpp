// Softmax attention (Vaswani et al. 2017) by a kernel that stores no [n, n] matrix. Options: keys and values shared by heads
// (Ainslie et al. 2023) or projected from a latent (DeepSeek-V2), a norm of queries and keys, a sink, and an output gate (Qiu
// et al. 2025). Another option is a forget gate (Lin et al. 2025), whose scores need the [n, n] matrix.
#include <ATen/core/Tensor.h>
#include <ATen/ops/rms_norm_ops.h>

#include <algorithm>
#include <cmath>

#include "ablate/blocks.h"
#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"
#include "ablate/padding.h"
#include "ablate/softmax_attention.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer(
        "key_value_heads", "0", {0, 64},
        "heads of keys and values; each serves the same number of query heads (GQA; 1: MQA); 0: the same number as heads"),
    ablate::integer("latent", "0", {0, 65536},
                    "channels of the latent from which all heads' keys and values are projected (MLA); 0: the layer's input",
                    "channels"),
    ablate::boolean("qk_norm", "false", "divides queries and keys by their RMS, times a learned number per head"),
    ablate::boolean("sink", "false", "a learned score per head that takes part of the weights and adds no value"),
    ablate::boolean("gate", "false",
                    "multiplies a head's output by the sigmoid of a projection of the layer's input (gated attention)"),
    ablate::boolean(
        "forget_gate", "false",
        "scores fall by a learned amount for each token between query and key (Forgetting Transformer); causal only"),
    ablate::integer("span_examples", "0", {0, 65536},
                    "examples of each evaluation batch to measure the distance between queries and attended keys on, which "
                    "forms the weights; 0: none",
                    "examples"),
};

constexpr std::int64_t kRows = 64;  // queries per step of the span measurement

ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto can = declared;
  can.averages = !values.boolean("sink");
  if (values.boolean("forget_gate")) can.bidirectional = can.cross_attention = false, can.memory_exponent = 2;
  return can;
}

/// True if heads share keys and values. Throws std::invalid_argument if heads, key_value_heads and latent do not fit together.
bool shares(const ablate::Values& values) {
  const auto heads = values.integer("heads"), own = values.integer("key_value_heads");
  if (own > 0 && heads % own != 0)
    throw std::invalid_argument("key_value_heads = " + std::to_string(own) +
                                " does not divide heads = " + std::to_string(heads));
  if (own > 0 && values.integer("latent") > 0)
    throw std::invalid_argument("key_value_heads = " + std::to_string(own) +
                                " cannot be used with latent = " + std::to_string(values.integer("latent")) +
                                ": with a latent, each head has its own keys and values");
  return own > 0 && own < heads;
}

/// True if this class, and not the base class, projects keys and values.
bool makes_keys(const ablate::Values& values) { return shares(values) || values.integer("latent") > 0; }

class SoftmaxAttention final : public ablate::HeadwiseAttention {
 public:
  explicit SoftmaxAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, {.heads = context.parameters.integer("heads"),
                                    .keys = !makes_keys(context.parameters),
                                    .values = !makes_keys(context.parameters)}),
        turns_(context.positions == ablate::Positions::kRotary),
        span_examples_(context.parameters.integer("span_examples")) {
    const auto make_of = [&](std::int64_t inputs, const char* name, std::int64_t outputs, bool bias) {
      return register_module(name, ablate::make_linear(inputs, outputs, bias, context.generator));
    };
    const auto make = [&](const char* name, std::int64_t outputs, bool bias) {
      return make_of(context.d_model, name, outputs, bias);
    };
    if (shares(context.parameters)) {
      const auto width = context.parameters.integer("key_value_heads") * d_head();
      key_ = make("key", width, true);
      value_ = make("value", width, true);
    }
    if (const auto latent = context.parameters.integer("latent"); latent > 0) {
      latent_ = make("latent", latent, false);
      latent_gain_ = register_parameter("latent_gain", ablate::ones({latent}), {.decay = false});
      key_ = make_of(latent, "key", heads() * d_head(), false);
      value_ = make_of(latent, "value", heads() * d_head(), false);
      if (turns_) {
        const auto turned = std::max<std::int64_t>(2, d_head() / 2 + d_head() / 2 % 2);  // rotation needs pairs
        turned_query_ = make("turned_query", heads() * turned, false);
        turned_key_ = make("turned_key", turned, false);
      }
    }
    if (context.parameters.boolean("qk_norm"))
      gain_ = register_parameter("gain", ablate::ones({heads(), 1, 1}), {.decay = false});
    if (context.parameters.boolean("gate")) gate_ = make("gate", heads() * d_head(), false);
    if (context.parameters.boolean("forget_gate")) forget_ = make("forget", heads(), true);
    if (context.parameters.boolean("sink")) sink_ = register_parameter("sink", ablate::zeros({heads()}));
  }

 private:
  HeadOutput attend(const HeadInput& original) override {
    auto input = latent_ ? of_latent(original) : key_ ? shared(original) : original;
    if (gain_.defined()) input.q = of_one_size(input.q) * gain_, input.k = of_one_size(input.k);
    auto output = forget_ ? forgetting(input) : attended(input);
    if (gate_) output.values = output.values * gate(input);
    if (input.measure && input.self && span_examples_ > 0) measure_span(input, output);
    return output;
  }

  HeadOutput attended(const HeadInput& input) const {
    const auto& mask = input.mask;
    // In causal self-attention no real query attends to padding at the end, so the kernel runs without a mask.
    if (!mask.defined() || (causal() && input.self && !has_holes(mask))) return {.values = weighted(input, {}, causal())};
    // An item without tokens would give 0/0. It may attend to all of its keys instead: their values are 0, so their mean is 0.
    auto allowed = mask.logical_or(mask.any(-1, true).logical_not()).unsqueeze(1).unsqueeze(1);
    if (causal()) {
      const auto earlier = ablate::ones({input.q.size(2), input.k.size(2)}, mask.options()).tril();
      allowed = allowed.logical_and(earlier);
      allowed = allowed.logical_or(earlier.logical_and(allowed.any(-1, true).logical_not()));  // queries before the first token
    }
    return {.values = weighted(input, allowed, false)};
  }

  /// Sigmoid for each channel of each head, [batch, heads, n, d_head]: G1 of Qiu et al. 2025, elementwise.
  Tensor gate(const HeadInput& input) const {
    const auto of = gate_->forward(input.self ? input.context : input.queries, fused());  // 0 at masked tokens
    return ablate::split_heads(of, heads()).sigmoid();
  }

  /// log f_1 + ... + log f_i, [batch, heads, n, 1], in float64 so that differences stay precise in long sequences.
  Tensor log_f_sums(const Tensor& x, const Tensor& mask) const {
    const auto log_f = -ablate::softplus(-ablate::widened(forget_->forward(x)));
    return ablate::clear_padding(log_f.transpose(1, 2).unsqueeze(-1), mask).to(ablate::kDouble).cumsum(2);
  }

  /// softmax(q_i k_j / sqrt(d) + log f_(j+1) + ... + log f_i) v, f = sigmoid(x W + b) of each head (Lin et al. 2025, Eq. 6 to
  /// 8). Padding forgets nothing. A sink is one additional key.
  HeadOutput forgetting(const HeadInput& input) const {
    const auto n = input.q.size(2);
    const auto sums = log_f_sums(input.context, input.mask);
    const auto q = ablate::widened(input.q), k = ablate::widened(input.k), v = ablate::widened(input.v);
    const auto between = (sums - sums.transpose(-1, -2)).to(q.scalar_type());  // [batch, heads, n, n]
    auto scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(3))) + between;
    auto hidden = ablate::hidden_keys(input.mask, true, n, n, 0, q);
    if (sink_.defined()) {
      scores = ablate::cat({scores, sink_.to(scores.scalar_type()).view({1, heads(), 1, 1}).expand({q.size(0), -1, n, 1})}, -1);
      hidden = ablate::pad(hidden, {0, 1});
    }
    const auto weights = ablate::drop(ablate::masked_softmax(scores, hidden).narrow(3, 0, n), dropout(), input.generator);
    return {.values = weights.matmul(v).to(input.q.scalar_type())};
  }

  /// Mean over queries and heads of sum_j w_j |i - j|: the required attention span of Tay et al. 2021, section 2.3. A sink is
  /// left out, because it scales all weights of a query alike.
  void measure_span(const HeadInput& input, HeadOutput& output) const {
    const ablate::NoGradGuard none;
    const auto first = [&](const Tensor& x) { return x.defined() ? x.narrow(0, 0, std::min(span_examples_, x.size(0))) : x; };
    const auto q = first(input.q), k = first(input.k), mask = first(input.mask);
    const auto n = q.size(2);
    const auto seen = ablate::mask_or_all(mask, n, q).expand({q.size(0), -1}).unsqueeze(1).unsqueeze(1);  // [examples, 1, 1, n]
    const auto token = ablate::arange(n, q.options().dtype(ablate::kDouble));
    const auto sums = forget_ ? log_f_sums(first(input.context), mask) : Tensor();
    double sum = 0;
    for (std::int64_t begin = 0; begin < n; begin += kRows) {
      const auto rows = std::min(kRows, n - begin);
      const auto distance = token.narrow(0, begin, rows).unsqueeze(1) - token;
      const auto allowed = causal() ? seen.logical_and(distance >= 0) : seen;
      auto scores = ablate::widened(q.narrow(2, begin, rows)).matmul(ablate::widened(k).transpose(-1, -2)) /
                    std::sqrt(static_cast<double>(q.size(3)));
      if (forget_) scores = scores + sums.narrow(2, begin, rows) - sums.transpose(-1, -2);
      const auto weights = scores.masked_fill(allowed.logical_not(), -INFINITY).softmax(-1).to(ablate::kDouble);
      const auto real = seen.select(2, 0).narrow(2, begin, rows);  // other queries are padding
      sum += (weights * distance.abs()).sum(-1).masked_select(real).sum().item<double>();
    }
    const auto count = seen.sum().item<double>() * static_cast<double>(heads());
    if (count > 0) output.metrics = {{"span", sum / count, "tokens"}};
  }

  /// x divided by its root mean square over the channels, the last dimension. x may have rotary positions already, because a
  /// rotation preserves length.
  static Tensor of_one_size(const Tensor& x) {
    constexpr double kEpsilon = 1e-5;  // same as the model's norms
    return at::_ops::rms_norm::call(x, c10::SymIntArrayRef(x.sym_sizes().slice(static_cast<std::size_t>(x.dim() - 1))), {},
                                    kEpsilon);
  }

  static bool has_holes(const Tensor& mask) {
    const auto n = mask.size(1);
    return mask.narrow(1, 1, n - 1).logical_and(mask.narrow(1, 0, n - 1).logical_not()).any().item<bool>();
  }

  /// Projects keys and values for key_value_heads heads, and repeats each for the query heads that share it. Also clears
  /// padding and applies rotary positions, as the base class does for its own projections.
  HeadInput shared(const HeadInput& original) const {
    auto input = original;
    const auto of = [&](const ablate::Linear& projection) {
      const auto own = projection.weight.size(0) / d_head();
      return ablate::clear_padding(ablate::split_heads(projection.forward(original.context, fused()), own), original.mask);
    };
    const auto turned = [&](const Tensor& x) { return turns_ ? ablate::rotate_positions(x, original.position, 0) : x; };
    const auto each = [&](const Tensor& x) {
      return x.unsqueeze(2).expand({-1, -1, heads() / x.size(1), -1, -1}).flatten(1, 2);
    };
    input.q = turned(original.q);
    input.k = each(turned(of(*key_)));
    input.v = each(of(*value_));
    return input;
  }

  /// Multi-head latent attention (DeepSeek-V2, 2024, Eq. 9 to 19): keys and values of each head are maps of one normed latent.
  /// Rotary positions use separate channels of the queries and of one key that all heads share.
  HeadInput of_latent(const HeadInput& original) const {
    auto input = original;
    const auto latent =
        of_one_size(latent_->forward(original.context, fused())) * latent_gain_;  // masked tokens stay 0: no map has a bias
    input.k = ablate::split_heads(key_->forward(latent, fused()), heads());
    input.v = ablate::split_heads(value_->forward(latent, fused()), heads());
    if (!turns_) return input;
    const auto turned = [&](const Tensor& x) { return ablate::rotate_positions(x, original.position, 0); };
    const auto q =
        ablate::split_heads(turned_query_->forward(original.self ? original.context : original.queries, fused()), heads());
    const auto k = ablate::split_heads(turned_key_->forward(original.context, fused()), 1);
    input.q = ablate::cat({original.q, turned(q)}, 3);
    input.k = ablate::cat({input.k, turned(k).expand({-1, heads(), -1, -1})}, 3);
    return input;
  }

  Tensor weighted(const HeadInput& input, const Tensor& allowed, bool is_causal) const {
    if (sink_.defined()) return beside_sink(input, allowed, is_causal);
    return read(input, input.q, input.k, input.v, allowed, is_causal);
  }

  /// Prepends the sink as a key with value 0. In an additional channel, queries have 1, the sink has its score, and other
  /// keys have 0. If causal, an idle query is prepended, too, because the kernel aligns queries with keys.
  Tensor beside_sink(const HeadInput& input, const Tensor& allowed, bool is_causal) const {
    const auto d = static_cast<double>(input.q.size(3));
    const auto idle = is_causal ? 1 : 0;
    const auto q = ablate::pad(ablate::pad(input.q * std::sqrt((d + 1) / d), {0, 1}, 1), {0, 0, idle, 0});
    const auto score =
        ablate::pad((sink_ * std::sqrt(d + 1)).to(input.k.scalar_type()).view({1, heads(), 1, 1}), {input.q.size(3), 0});
    const auto k = ablate::cat({score.expand({input.k.size(0), -1, -1, -1}), ablate::pad(input.k, {0, 1})}, 2);
    const auto v = ablate::pad(input.v, {0, 0, 1, 0});
    const auto seen = allowed.defined() ? ablate::pad(allowed, {1, 0}, 1) : Tensor();
    return read(input, q, k, v, seen, is_causal).narrow(2, idle, input.q.size(2));
  }

  Tensor read(const HeadInput& input, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& allowed,
              bool is_causal) const {
    if (dropout() > 0) return ablate::dropped_attention(q, k, v, allowed, is_causal, dropout(), input.generator);
    return ablate::softmax_attention(q, k, v, allowed, is_causal, fused());
  }

  bool turns_;  ///< true if positions are rotary
  std::int64_t span_examples_;
  std::shared_ptr<ablate::Linear> key_, value_;  ///< for shared heads or a latent; null if the base class projects
  std::shared_ptr<ablate::Linear> latent_, turned_query_, turned_key_;  ///< null if not requested
  Tensor latent_gain_;                                                  ///< [latent]
  std::shared_ptr<ablate::Linear> gate_, forget_;                       ///< null if not requested
  Tensor gain_;                                                         ///< [heads, 1, 1]; undefined: q and k stay as projected
  Tensor sink_;                                                         ///< [heads], or undefined
};

}  // namespace

ABLATE_ATTENTION(SoftmaxAttention, {.id = "softmax",
                                    .version = "1.3.0",
                                    .summary = "scaled dot-product attention; stores no [n, n] matrix",
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
                                    .parameters = parameters,
                                    .promises = promises})
