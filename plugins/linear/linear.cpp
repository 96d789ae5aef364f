// Linear attention (Katharopoulos et al. 2020): softmax's exponential replaced by a feature map, so that keys are summed once.
#include <torch/types.h>

#include <limits>

#include "ablate/headwise.h"
#include "ablate/kernel_attention.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::text("feature_map", "\"elu+1\"", "elu+1|relu", "phi in phi(q) (phi(K)^T V) / (phi(q) sum phi(K))"),
};

// Tokens whose weights the causal form computes one by one; what lies before them comes as a prefix sum. 64 keeps both the
// [chunk, chunk] weights and the one [d, d] sum a chunk about as large as the tokens themselves.
constexpr std::int64_t chunk = 64;

/// [batch, heads, n, d] -> [batch, heads, n / chunk rounded up, chunk, d], zeros at the end.
torch::Tensor in_chunks(const torch::Tensor& x) {
  const auto missing = (chunk - x.size(2) % chunk) % chunk;
  return torch::constant_pad_nd(x, {0, 0, 0, missing}).unflatten(2, {-1, chunk});
}

/// Chunk c gets the sum of the chunks before it. Shifted rather than subtracted: subtracting would leak a chunk's later tokens
/// into its earlier ones through rounding.
torch::Tensor sum_before(const torch::Tensor& x) {
  const auto sums = x.narrow(2, 0, x.size(2) - 1).cumsum(2);
  return torch::cat({torch::zeros_like(x.narrow(2, 0, 1)), sums}, 2);
}

class LinearAttention : public ablate::HeadwiseAttention {
 public:
  explicit LinearAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        map_(context.parameters.text("feature_map") == "relu" ? ablate::FeatureMap::kRelu : ablate::FeatureMap::kElu) {}

  torch::Tensor attend(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& values,
                       const torch::Tensor& mask) override {
    // phi(0) is 1 for elu + 1: a padded key has to leave numerator and denominator.
    if (!causal()) {
      const auto mass = mask.defined() ? mask.to(queries.scalar_type()).unsqueeze(1) : torch::Tensor();
      return ablate::kernel_attention(queries, keys, values, mass, map_);
    }
    // A prefix sum has no wider sum of its own inside.
    const auto type = queries.scalar_type();
    if (c10::isReducedFloatingType(type))
      return attend(queries.to(torch::kFloat), keys.to(torch::kFloat), values.to(torch::kFloat), mask).to(type);
    auto k = features(keys);
    if (mask.defined()) k = k.masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(-1), 0);
    return attend_causal(features(queries), k, values);
  }

 private:
  torch::Tensor features(const torch::Tensor& x) const {
    return map_ == ablate::FeatureMap::kRelu ? torch::relu(x) : torch::elu(x) + 1;
  }

  // The sum of weights is 0 where no key is left (or, with relu, where no key agrees with the query): such a query reads 0.
  // Over infinity its value and all its gradients are 0.
  static torch::Tensor normalised(const torch::Tensor& numerator, const torch::Tensor& denominator) {
    return numerator / denominator.masked_fill(denominator <= 0, std::numeric_limits<double>::infinity());
  }

  /// Query i reads keys 0 to i: those of its own chunk by their weights, those before it by their sums (Eq. 9 to 12).
  static torch::Tensor attend_causal(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& values) {
    const auto n = queries.size(2);
    // A shorter context ends in keys without a feature, which nobody reads; the end of a longer one comes too late for all.
    const auto fit = [n](const torch::Tensor& x) { return torch::constant_pad_nd(x, {0, 0, 0, n - x.size(2)}); };
    const auto q = in_chunks(queries), k = in_chunks(fit(keys)), v = in_chunks(fit(values));
    const auto weights = q.matmul(k.transpose(-1, -2)).tril();
    const auto numerator = weights.matmul(v) + q.matmul(sum_before(k.transpose(-1, -2).matmul(v)));
    const auto denominator = weights.sum(-1, true) + q.matmul(sum_before(k.sum(-2).unsqueeze(-1)));
    return normalised(numerator, denominator).flatten(2, 3).narrow(2, 0, n);
  }

  ablate::FeatureMap map_;
};

}  // namespace

ABLATE_ATTENTION(
    LinearAttention,
    {.id = "linear",
     .version = "1.0.0",
     .summary = "kernel attention in linear time, normalised",
     .paper = "Katharopoulos et al. 2020, arXiv 2006.16236, Eq. 4 to 12",
     .capabilities = {.causal = true, .key_padding = true, .cross_attention = true, .averages = true, .half_precision = true},
     .parameters = parameters})
