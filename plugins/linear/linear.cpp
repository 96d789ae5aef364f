// Linear attention (Katharopoulos et al. 2020): softmax's exponential replaced by a feature map, so that keys are summed once.
#include <cmath>
#include <limits>

#include "ablate/headwise.h"
#include "ablate/kernel_attention.h"
#include "ablate/masked_softmax.h"

namespace {

using ablate::AttentionState;
using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::text("feature_map", "\"elu+1\"", "elu+1|relu", "phi in phi(q) (phi(K)^T V) / (phi(q) sum phi(K))"),
    ablate::text(
        "normaliser", "\"sum\"", "sum|length",
        "what phi(q) (phi(K)^T V) is divided by; sum: its weights' sum; length: the root of the longest sequence's length, "
        "as the Long Range Arena code of Xiong et al. 2021 has it"),
    ablate::integer("convolution", "0", {0, 64},
                    "tokens of a short convolution of queries, keys and values; 0: none (the paper)", "tokens"),
};

ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto result = declared;
  result.averages = values.text("normaliser") == "sum";  // else more tokens alike weigh more
  // A convolution tells tokens apart by what stands before them, and knows one sequence without gaps.
  if (values.integer("convolution") > 0) result.averages = result.cross_attention = result.holes = false;
  return result;
}

// Tokens whose weights the causal form computes one by one; what lies before them comes as a prefix sum. 64 keeps both the
// [chunk, chunk] weights and the one [d, d] sum a chunk about as large as the tokens themselves.
constexpr std::int64_t chunk = 64;

/// [batch, heads, n, d] -> [batch, heads, n / chunk rounded up, chunk, d], zeros at the end.
Tensor in_chunks(const Tensor& x) {
  const auto missing = (chunk - x.size(2) % chunk) % chunk;
  return ablate::pad(x, {0, 0, 0, missing}).unflatten(2, {-1, chunk});
}

/// Item c is `first` and the sum of the chunks before c, the one behind the last chunk the sum of all. Prefix sums rather than
/// differences: subtracting would leak a chunk's later tokens into its earlier ones through rounding.
/// @param x [batch, heads, chunks, ...] @param first [batch, heads, ...]
Tensor sums_before(const Tensor& x, const Tensor& first) { return ablate::cat({first.unsqueeze(2), x}, 2).cumsum(2); }

class LinearAttention final : public ablate::HeadwiseAttention {
 public:
  explicit LinearAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(
            context, {.heads = context.parameters.integer("heads"), .convolution = context.parameters.integer("convolution")}),
        map_(context.parameters.text("feature_map") == "relu" ? ablate::FeatureMap::kRelu : ablate::FeatureMap::kElu),
        divisor_(context.parameters.text("normaliser") == "sum" ? 0 : std::sqrt(static_cast<double>(context.max_length))) {}

 private:
  Tensor in_one(const ablate::AttentionInput& input, const ablate::Projections& by, bool fused) const override {
    if (causal() || divisor_ > 0) return {};
    return ablate::projected_kernel_attention(input.queries, input.context, input.mask, by, map_, fused);
  }

  /// Rotary positions turn queries and keys, so phi sees them turned: weights stay above 0, and tell more than the distance.
  /// (Su et al. 2021, Eq. 19, turn phi(q) and phi(k), in the numerator alone.)
  HeadOutput attend(const HeadInput& input) override {
    // phi(0) is 1 for elu + 1: a padded key has to leave numerator and denominator, and the state.
    if (!causal() && input.state.empty() && divisor_ == 0) {
      const auto mass = input.mask.defined() ? input.mask.to(input.q.scalar_type()).unsqueeze(1) : Tensor();
      return {.values = ablate::kernel_attention(input.q, input.k, input.v, mass, map_)};
    }
    if (!input.state.empty() && !input.self) throw std::logic_error("linear: a state needs self-attention");
    // A prefix sum has no wider sum of its own inside.
    const auto type = input.q.scalar_type();
    const auto q = ablate::kernel_features(ablate::widened(input.q), map_), v = ablate::widened(input.v);
    auto k = ablate::kernel_features(ablate::widened(input.k), map_);
    if (input.mask.defined()) k = k.masked_fill(input.mask.logical_not().unsqueeze(1).unsqueeze(-1), 0);
    auto output = causal() ? attend_causal(q, k, v, input.state) : attend_all(q, k, v, input.state);
    output.values = output.values.to(type);
    return output;
  }

  /// What has been read: the sums of phi(k) v^T and of phi(k). Float32 at least: half precision would stop adding up.
  AttentionState heads_state(std::int64_t batch) const override {
    const auto options = ablate::wide_options(parameters().front().tensor);
    return {ablate::zeros({batch, heads(), d_head(), d_head()}, options),
            ablate::zeros({batch, heads(), d_head(), 1}, options)};
  }

  // The sum of weights is 0 where no key is left (or, with relu, where no key agrees with the query): such a query reads 0.
  // Over infinity its value and all its gradients are 0.
  Tensor normalised(const Tensor& numerator, const Tensor& denominator) const {
    if (divisor_ > 0) return numerator / divisor_;
    const auto nothing = denominator <= ablate::least_kernel_sum(denominator);
    return numerator / denominator.masked_fill(nothing, std::numeric_limits<double>::infinity());
  }

  /// Query i reads keys 0 to i: those of its own chunk by their weights, those before it by their sums (Eq. 9 to 12), which
  /// begin with the state's.
  HeadOutput attend_causal(const Tensor& queries, const Tensor& keys, const Tensor& values, const AttentionState& state) const {
    const auto n = queries.size(2);
    // A shorter context ends in keys without a feature, which nobody reads; the end of a longer one comes too late for all.
    const auto fit = [n](const Tensor& x) { return ablate::pad(x, {0, 0, 0, n - x.size(2)}); };
    const auto q = in_chunks(queries), k = in_chunks(fit(keys)), v = in_chunks(fit(values));
    const auto chunks = q.size(2);
    const auto weights = q.matmul(k.transpose(-1, -2)).tril();
    const auto products = k.transpose(-1, -2).matmul(v), totals = k.sum(-2).unsqueeze(-1);
    const auto before = [&](const Tensor& x, std::size_t part) {
      return sums_before(x, state.empty() ? ablate::zeros_like(x.select(2, 0)) : state[part]);
    };
    const auto product_sums = before(products, 0), total_sums = before(totals, 1);
    const auto numerator = weights.matmul(v) + q.matmul(product_sums.narrow(2, 0, chunks));
    const auto denominator = weights.sum(-1, true) + q.matmul(total_sums.narrow(2, 0, chunks));
    HeadOutput output{.values = normalised(numerator, denominator).flatten(2, 3).narrow(2, 0, n)};
    if (!state.empty()) output.state = {product_sums.select(2, chunks), total_sums.select(2, chunks)};
    return output;
  }

  /// Every query reads all keys, of this segment and of those before.
  HeadOutput attend_all(const Tensor& queries, const Tensor& keys, const Tensor& values, const AttentionState& state) const {
    auto products = keys.transpose(-1, -2).matmul(values), totals = keys.sum(2).unsqueeze(-1);
    if (!state.empty()) products = state[0] + products, totals = state[1] + totals;
    HeadOutput output{.values = normalised(queries.matmul(products), queries.matmul(totals))};
    if (!state.empty()) output.state = {products, totals};
    return output;
  }

  ablate::FeatureMap map_;
  double divisor_;  ///< of the sums of values; 0: the sum of their weights
};

}  // namespace

ABLATE_ATTENTION(LinearAttention, {.id = "linear",
                                   .version = "1.4.0",
                                   .summary = "kernel attention in linear time, normalised",
                                   .paper = "Katharopoulos et al. 2020, arXiv 2006.16236, Eq. 4 to 12 and 16 to 20",
                                   .capabilities = {.causal = true,
                                                    .key_padding = true,
                                                    .cross_attention = true,
                                                    .stateful = true,
                                                    .holes = true,
                                                    .recurrent = true,
                                                    .rotary = true,
                                                    .averages = true,
                                                    .half_precision = true},
                                   .parameters = parameters,
                                   .promises = promises})
