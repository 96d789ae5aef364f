#include "divergence.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace ablate::mixed {
namespace {

constexpr double kRounding = 1e-3;   ///< tolerance in float32 and in half precision
constexpr std::int64_t kTried = 64;  ///< tokens of the test for weights; the answer does not depend on their number

struct Sum {
  double value = 0, queries = 0;
};

/// [..., n, keys] -> [..., n], in nats
Tensor entropy(const Tensor& p) { return -p.xlogy(p).sum(-1); }

/// Adds the divergence of the rows in which both heads have weight.
/// @param a, b [n, keys], rows that are distributions or 0
/// @param real [n] bool, or undefined: all
void add(const Tensor& a, const Tensor& b, const Tensor& real, Sum& sum) {
  auto both = a.any(-1).logical_and(b.any(-1));
  if (real.defined()) both = both.logical_and(real);
  const auto found = entropy((a + b) / 2) - (entropy(a) + entropy(b)) / 2;
  sum.value += found.masked_select(both).sum().item<double>();
  sum.queries += both.sum().item<double>();
}

/// Returns the weights of one example, [heads, n, keys]: rows that are distributions, or 0.
Tensor distributions(Attention& part, const AttentionInput& input) {
  const auto weights = part.weights(input);
  if (!weights.defined())
    throw std::runtime_error("mixed: the outputs of a part's heads are not weighted averages of their values here");
  if (weights.min().item<double>() < -kRounding)
    throw std::runtime_error("mixed: a part has attention weights below 0, which are no distribution to compare");
  const auto positive = weights[0].clamp_min(0), sum = positive.sum(-1, true), nothing = sum < 0.5;
  return (positive / sum.masked_fill(nothing, 1)).masked_fill(nothing, 0);
}

/// True if a part has weights. Runs the part once on random tokens.
bool has_weights(Attention& part, const AttentionContext& context, std::int64_t multiple) {
  const auto n = std::min(context.max_length, (kTried + multiple - 1) / multiple * multiple);
  auto draws = context.generator.clone();
  const auto tokens = randn({1, n, context.d_model}, draws);
  const AttentionInput input{.queries = tokens, .context = tokens, .generator = draws};
  part.eval();
  const auto weights = part.weights(input);
  part.train();
  return weights.defined();
}

AttentionInput example(const AttentionInput& input, std::int64_t i) {
  const auto of = [&](const Tensor& x) { return x.defined() ? x.narrow(0, i, 1) : x; };
  const bool self = input.queries.is_same(input.context);
  auto one = input;
  one.queries = of(input.queries);
  one.context = self ? one.queries : of(input.context);
  one.mask = of(input.mask);
  one.query_mask = self ? one.mask : of(input.query_mask);
  one.position = of(input.position);
  return one;
}

}  // namespace

Divergence::Divergence(std::vector<std::shared_ptr<Attention>> parts, std::int64_t examples, const AttentionContext& context)
    : parts_(std::move(parts)), examples_(examples), layer_(context.layer) {
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (!has_weights(*parts_[i], context, context.parts.promises("parts", i).length_multiple))
      throw std::invalid_argument("divergence_examples = " + std::to_string(examples) + " compares heads, and parts." +
                                  std::to_string(i) +
                                  " has no attention weights: its heads' outputs are not weighted averages of their values");
}

std::vector<Measurement> Divergence::of(const AttentionInput& input) const {
  const NoGradGuard none;
  std::map<std::pair<std::size_t, std::size_t>, Sum> sums;
  for (std::int64_t i = 0; i < std::min(examples_, input.queries.size(0)); ++i) {
    const auto one = example(input, i);
    const auto real = one.query_mask.defined() ? one.query_mask[0] : Tensor();
    std::vector<std::pair<std::size_t, Tensor>> heads;
    for (std::size_t part = 0; part < parts_.size(); ++part)
      for (const auto& weights : distributions(*parts_[part], one).unbind()) heads.emplace_back(part, weights);
    for (std::size_t a = 0; a < heads.size(); ++a)
      for (auto b = a + 1; b < heads.size(); ++b)
        add(heads[a].second, heads[b].second, real, sums[{heads[a].first, heads[b].first}]);
  }
  std::vector<Measurement> found;
  for (const auto& [parts, sum] : sums) {
    if (sum.queries == 0) continue;
    const auto name = "divergence_" + std::to_string(parts.first) + "_" + std::to_string(parts.second);
    for (const auto& full : {name, name + "_layer_" + std::to_string(layer_ + 1)})
      found.push_back({full, sum.value / sum.queries, "nat"});
  }
  return found;
}

}  // namespace ablate::mixed
