// Transformer-XL (Dai et al. 2019): attention over the segment and a memory of earlier ones, with relative positions.
//
// Otherwise than published: queries, keys, values and outputs have biases, as every HeadwiseAttention's, those of queries and
// keys beside u and v; and the memory holds what the layer was given then, in a pre-norm model normed inputs, where the
// published pre-norm code keeps inputs as they were and norms them anew.
#include <cmath>
#include <limits>

#include "ablate/headwise.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("memory", "64", {0, 65536},
                    "tokens of earlier segments that are attended to, as the layer was given them then (pre-norm: normed); 0: "
                    "none, and no state",
                    "tokens"),
    ablate::integer("evaluation_memory", "0", {0, 65536}, "as many in evaluation; 0: as in training", "tokens"),
};

ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto result = declared;
  result.stateful = values.integer("memory") > 0;
  return result;
}

/// R: row t tells the distance count - 1 - t. @return [count, channels], of the options' type
Tensor distances(std::int64_t count, std::int64_t channels, const ablate::TensorOptions& options) {
  const auto wide = options.dtype() == ablate::kDouble ? options : options.dtype(ablate::kFloat);
  const auto half = (channels + 1) / 2;
  const auto frequency = (ablate::arange(half, wide) * (-std::log(10000.0) / static_cast<double>(half))).exp();
  const auto angle = (count - 1 - ablate::arange(count, wide)).unsqueeze(1) * frequency;
  return ablate::cat({angle.sin(), angle.cos()}, 1).narrow(1, 0, channels).to(options.dtype());
}

/// Moves row i to the left by n - 1 - i (appendix B): what stood by distance then stands by key. What comes in from the right
/// is later than the query. @param x [batch, heads, n, keys]
Tensor shift(const Tensor& x) {
  const auto n = x.size(2), keys = x.size(3);
  return ablate::pad(x, {1, 0}).flatten(2).narrow(2, n, n * keys).unflatten(2, {n, keys});
}

class TransformerXl final : public ablate::HeadwiseAttention {
 public:
  explicit TransformerXl(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, options_of(context.parameters)), d_model_(context.d_model) {
    relative_ = register_module("relative", ablate::make_linear(d_model_, heads() * d_head(), false, context.generator));
    const double bound = 1 / std::sqrt(static_cast<double>(d_model_));
    const auto bias = [&](const char* name) {
      return register_parameter(name, ablate::empty({heads(), 1, d_head()}).uniform_(-bound, bound, context.generator));
    };
    content_bias_ = bias("content_bias");
    position_bias_ = bias("position_bias");
  }

 private:
  static ablate::HeadOptions options_of(const ablate::Values& values) {
    if (values.integer("memory") == 0 && values.integer("evaluation_memory") > 0)
      throw std::invalid_argument("transformer-xl: evaluation_memory = " + std::to_string(values.integer("evaluation_memory")) +
                                  " with memory = 0; a model that was trained without a memory cannot read one");
    return {.heads = values.integer("heads"),
            .memory = values.integer("memory"),
            .evaluation_memory = values.integer("evaluation_memory")};
  }

  /// A_ij = (q_i + u) k_j + (q_i + v) W_r R_(i - j), softmax over j up to i (section 3.3).
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("transformer-xl: queries and context have to be one sequence");
    const auto n = input.q.size(2), keys = input.k.size(2);
    const auto type = input.q.scalar_type();
    const auto wide = [&](const Tensor& x) { return c10::isReducedFloatingType(type) ? x.to(ablate::kFloat) : x; };
    const auto r = ablate::split_heads(
        relative_->forward(distances(keys, d_model_, input.q.options().requires_grad(false))).unsqueeze(0), heads());
    const auto scale = 1 / std::sqrt(static_cast<double>(d_head()));
    const auto score = [&](const Tensor& bias, const Tensor& k) {
      return ((wide(input.q) + wide(bias)) * scale).matmul(wide(k).transpose(-1, -2));
    };
    const auto all = score(content_bias_, input.k) + shift(score(position_bias_, r));
    auto hidden = ablate::ones({n, keys}, input.q.options().dtype(ablate::kBool).requires_grad(false)).triu(input.offset + 1);
    if (input.mask.defined()) hidden = hidden.logical_or(input.mask.logical_not().unsqueeze(1).unsqueeze(1));
    // Finite, so that a row without keys is no NaN; and cleared behind, so that it is 0.
    const auto scores = all.masked_fill(hidden, std::numeric_limits<float>::lowest());
    const auto weights = scores.softmax(-1).masked_fill(hidden, 0);
    return {.values = weights.matmul(wide(input.v)).to(type)};
  }

  std::int64_t d_model_;
  std::shared_ptr<ablate::Linear> relative_;  ///< W_{k,R}; without a bias, which softmax would not see
  Tensor content_bias_, position_bias_;       ///< u and v, [heads, 1, d_head]
};

}  // namespace

ABLATE_ATTENTION(TransformerXl, {.id = "transformer-xl",
                                 .version = "1.0.0",
                                 .summary = "attention with relative positions and a memory of earlier segments",
                                 .paper = "Dai et al. 2019, arXiv 1901.02860, sections 3.2 and 3.3",
                                 .capabilities = {.causal = true,
                                                  .key_padding = true,
                                                  .bidirectional = false,
                                                  .averages = true,
                                                  .half_precision = true,
                                                  .time_exponent = 2,
                                                  .memory_exponent = 2},
                                 .parameters = parameters,
                                 .promises = promises})
