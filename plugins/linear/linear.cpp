// Linear attention (Katharopoulos et al. 2020): softmax's exponential replaced by a feature map, so that keys are summed once.
#include <torch/nn/functional/activation.h>

#include "ablate/headwise.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::text("feature_map", "\"elu+1\"", "elu+1|relu", "phi in phi(q) (phi(K)^T V) / (phi(q) sum phi(K))"),
};

class LinearAttention : public ablate::HeadwiseAttention {
 public:
  explicit LinearAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")), relu_(context.parameters.text("feature_map") == "relu") {}

  torch::Tensor attend(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& values,
                       const torch::Tensor& mask) override {
    const auto q = features(queries);
    auto k = features(keys);
    // phi(0) is 1 for elu + 1: a padded key has to leave numerator and denominator.
    if (mask.defined()) k = k * mask.unsqueeze(1).unsqueeze(-1);
    const auto numerator = q.matmul(k.transpose(-1, -2).matmul(values));
    const auto denominator = q.matmul(k.sum(-2).unsqueeze(-1));
    // The sum of weights is 0 where no key is left (or, with relu, no key agrees with the query): such a query reads 0.
    return numerator / denominator.masked_fill(denominator <= 0, 1);
  }

 private:
  torch::Tensor features(const torch::Tensor& x) const { return relu_ ? torch::relu(x) : torch::elu(x) + 1; }

  bool relu_;
};

}  // namespace

ABLATE_ATTENTION(LinearAttention, {.id = "linear",
                                   .version = "1.0.0",
                                   .summary = "kernel attention in linear time, normalised",
                                   .paper = "Katharopoulos et al. 2020, arXiv 2006.16236, Eq. 4 to 6",
                                   .capabilities = {.key_padding = true, .cross_attention = true},
                                   .parameters = parameters})
