// Synthesizer (Tay et al. 2021): attention weights without comparisons of tokens, from each token or from its position only.
#include <cmath>

#include "ablate/choices.h"
#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Linear;
using ablate::Tensor;

enum class Synthesis { kDense, kRandom, kFactorizedDense, kFactorizedRandom, kMixture };
constexpr auto kSyntheses = ablate::choices<Synthesis>({{"dense", Synthesis::kDense},
                                                        {"random", Synthesis::kRandom},
                                                        {"factorized-dense", Synthesis::kFactorizedDense},
                                                        {"factorized-random", Synthesis::kFactorizedRandom},
                                                        {"mixture", Synthesis::kMixture}});
/// True if a token's scores come only from this token.
bool is_dense(Synthesis form) { return form == Synthesis::kDense || form == Synthesis::kFactorizedDense; }

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::text("synthesis", "\"dense\"", kSyntheses,
                 "dense: an MLP of each token gives its scores; random: a matrix [n, n]; factorized: of two factors; mixture: "
                 "random and dot-product scores, weighed by a learned share"),
    ablate::when("synthesis = factorized-random", ablate::integer("rank", "8", {1, 4096}, "columns of each factor")),
};

class Synthesizer final : public ablate::HeadwiseAttention {
 public:
  explicit Synthesizer(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, options_of(context)), form_(kSyntheses.of(context.parameters, "synthesis")) {
    const auto length = context.max_length, d = d_head();
    const auto& generator = context.generator;
    const auto linear = [&](const char* name, std::int64_t in, std::int64_t out) {
      return register_module(name, ablate::make_linear(in, out, true, generator));
    };
    const auto matrix = [&](const char* name, ablate::IntArrayRef sizes) {
      const double bound = 1 / std::sqrt(static_cast<double>(sizes.back()));
      return register_parameter(name, ablate::empty(sizes).uniform_(-bound, bound, generator));
    };
    if (is_dense(form_)) hidden_ = linear("hidden", context.d_model, heads() * d);
    if (form_ == Synthesis::kDense) {
      scores_ = matrix("scores", {heads(), length, d});
      score_bias_ = matrix("score_bias", {heads(), length});
    } else if (form_ == Synthesis::kFactorizedDense) {
      outer_ = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(length))));
      inner_ = (length + outer_ - 1) / outer_;
      scores_ = matrix("scores", {heads(), outer_ + inner_, d});
      score_bias_ = matrix("score_bias", {heads(), outer_ + inner_});
    } else if (form_ == Synthesis::kFactorizedRandom) {
      rows_ = matrix("rows", {heads(), length, context.parameters.integer("rank")});
      columns_ = matrix("columns", {heads(), length, context.parameters.integer("rank")});
    } else {
      scores_ = matrix("scores", {heads(), length, length});
    }
    if (form_ == Synthesis::kMixture) share_ = register_parameter("share", ablate::zeros({heads()}));
  }

 private:
  /// Only the mixture compares tokens.
  static ablate::HeadOptions options_of(const ablate::AttentionContext& context) {
    const bool compares = kSyntheses.of(context.parameters, "synthesis") == Synthesis::kMixture;
    return {.heads = context.parameters.integer("heads"), .queries = compares, .keys = compares};
  }

  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("synthesizer: queries and context have to be one sequence");
    const auto n = input.v.size(2);
    const auto type = input.v.scalar_type();
    const auto scores = synthesized(input, n);  // [batch or 1, heads, n, n]
    const auto all = ablate::masked_softmax(scores, ablate::hidden_keys(input.mask, causal(), n, n, 0, input.v));
    // All items may share one matrix of scores, but dropout is drawn for each item.
    const auto each = dropout() > 0 ? all.expand({input.v.size(0), -1, -1, -1}) : all;
    const auto weights = ablate::drop(each, dropout(), input.generator);
    return {.values = weights.matmul(ablate::widened(input.v)).to(type)};
  }

  Tensor synthesized(const HeadInput& input, std::int64_t n) const {
    const auto first = [&](const Tensor& x) { return ablate::widened(x).narrow(1, 0, n); };
    if (form_ == Synthesis::kFactorizedRandom) return first(rows_).matmul(first(columns_).transpose(1, 2)).unsqueeze(0);
    if (is_dense(form_)) {
      const auto h = ablate::widened(
          ablate::split_heads(hidden_->forward(input.context, fused()), heads()).relu());  // [batch, heads, n, d]
      if (form_ == Synthesis::kDense) return h.matmul(first(scores_).transpose(1, 2)) + first(score_bias_).unsqueeze(1);
      const auto factors = h.matmul(ablate::widened(scores_).transpose(1, 2)) + ablate::widened(score_bias_).unsqueeze(1);
      const auto outer = factors.narrow(3, 0, outer_), inner = factors.narrow(3, outer_, inner_);
      return (outer.unsqueeze(4) * inner.unsqueeze(3)).flatten(3).narrow(3, 0, n);
    }
    const auto random = first(scores_).narrow(2, 0, n).unsqueeze(0);
    if (form_ == Synthesis::kRandom) return random;
    const auto share = ablate::widened(share_).sigmoid().view({-1, 1, 1});
    const auto scale = 1 / std::sqrt(static_cast<double>(d_head()));
    return (ablate::widened(input.q) * (share * scale)).matmul(ablate::widened(input.k).transpose(-1, -2)) +
           (1 - share) * random;
  }

  Synthesis form_;
  std::int64_t outer_ = 0, inner_ = 0;  ///< sizes of the two factors of a token's scores, outer * inner >= max_length
  std::shared_ptr<Linear> hidden_;      ///< first layer of the MLP, all heads
  Tensor scores_, score_bias_;          ///< second layer of the MLP, [heads, max_length or outer + inner, d]; or all scores
  Tensor rows_, columns_;               ///< [heads, max_length, rank]
  Tensor share_;                        ///< [heads]; its sigmoid is the share of dot products
};

}  // namespace

ABLATE_ATTENTION(Synthesizer, {.id = "synthesizer",
                               .version = "1.0.0",
                               .summary = "attention weights only from each token, or only from positions",
                               .paper = "Tay et al. 2021, arXiv 2005.00743, section 3",
                               .capabilities = {.causal = true,
                                                .key_padding = true,
                                                .holes = true,
                                                .weight_dropout = true,
                                                .averages = true,
                                                .half_precision = true,
                                                .time_exponent = 2,
                                                .memory_exponent = 2},
                               .parameters = parameters})
