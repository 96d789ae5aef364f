// Sparse attention weights: alpha-entmax (Peters et al. 2019; Correia et al. 2019, with a trained alpha) and top-k.
#include <cmath>
#include <stdexcept>

#include "ablate/choices.h"
#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"
#include "alpha_entmax.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

enum class Form { kEntmax, kTrainedEntmax, kTopK };
constexpr auto kForms =
    ablate::choices<Form>({{"entmax", Form::kEntmax}, {"trained-entmax", Form::kTrainedEntmax}, {"top-k", Form::kTopK}});

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::text("weights", "\"entmax\"", kForms,
                 "entmax: with the fixed `alpha`; trained-entmax: each head learns its alpha, between 1 and 2; top-k: softmax "
                 "over the k largest scores of a query"),
    ablate::when("weights = entmax", ablate::real("alpha", "1.5", {1, 2}, "1: softmax; 1.01 to 2: sparse; 2: sparsemax")),
    ablate::when("weights = top-k",
                 ablate::integer("k", "32", {1, 65536}, "keys that a query reads; keys that tie with the k-th are read, too")),
};

// Between alpha 1 (softmax) and this alpha, the gradient of alpha has no precision left, because it divides by (alpha - 1)^2.
constexpr double kLeastAlpha = 1.01;
constexpr double kNothing = -1e30;  // score of a masked key; finite, for rows where all keys are masked

class Entmax final : public ablate::HeadwiseAttention {
 public:
  explicit Entmax(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        form_(kForms.of(context.parameters, "weights")),
        alpha_(context.parameters.real("alpha")),
        k_(context.parameters.integer("k")) {
    if (alpha_ > 1 && alpha_ < kLeastAlpha)
      throw std::invalid_argument("alpha = " + std::to_string(alpha_) + ", expected 1 (softmax), or 1.01 to 2");
    if (form_ == Form::kTrainedEntmax) trained_ = register_parameter("alpha", ablate::zeros({heads(), 1, 1}));
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    const auto n = input.q.size(2), keys = input.k.size(2);
    const auto type = input.q.scalar_type();
    auto scores = (ablate::widened(input.q) * (1 / std::sqrt(static_cast<double>(d_head()))))
                      .matmul(ablate::widened(input.k).transpose(-1, -2));
    const auto gone = ablate::hidden_keys(input.mask, causal(), n, keys, 0, input.q);
    if (gone.defined()) scores = scores.masked_fill(gone, kNothing);
    auto weights = weights_of(scores);
    if (gone.defined()) weights = weights.masked_fill(gone, 0);
    weights = ablate::drop(weights, dropout(), input.generator);
    HeadOutput output{.values = weights.matmul(ablate::widened(input.v)).to(type)};
    if (input.measure && trained_.defined()) {
      output.metrics.push_back({"alpha", trained_alpha(trained_).mean().item().toDouble(), ""});
    }
    return output;
  }

  Tensor weights_of(const Tensor& scores) const {
    if (form_ == Form::kTopK) {
      if (k_ >= scores.size(-1)) return scores.softmax(-1);
      const auto least = std::get<0>(scores.detach().topk(k_, -1)).narrow(-1, k_ - 1, 1);
      return scores.masked_fill(scores < least, kNothing).softmax(-1);
    }
    if (form_ == Form::kTrainedEntmax)
      return ablate::entmax::alpha_entmax(scores, trained_alpha(trained_.to(scores.scalar_type())));
    if (alpha_ == 1) return scores.softmax(-1);
    return ablate::entmax::alpha_entmax(scores, ablate::full({1}, alpha_, scores.options().requires_grad(false)));
  }

  static Tensor trained_alpha(const Tensor& trained) { return (trained.sigmoid() + 1).clamp_min(kLeastAlpha); }

  Form form_;
  double alpha_;
  std::int64_t k_;
  Tensor trained_;  ///< [heads, 1, 1]; a head's alpha is 1 + sigmoid of its entry
};

}  // namespace

ABLATE_ATTENTION(Entmax, {.id = "entmax",
                          .version = "1.0.0",
                          .summary = "sparse attention weights: alpha-entmax, sparsemax, top-k",
                          .paper = "Correia et al. 2019, arXiv 1909.00015; Peters et al. 2019, arXiv 1905.05702",
                          .capabilities = {.causal = true,
                                           .key_padding = true,
                                           .cross_attention = true,
                                           .holes = true,
                                           .rotary = true,
                                           .weight_dropout = true,
                                           .averages = true,
                                           .sparse = true,
                                           .half_precision = true,
                                           .time_exponent = 2,
                                           .memory_exponent = 2},
                          .parameters = parameters})
