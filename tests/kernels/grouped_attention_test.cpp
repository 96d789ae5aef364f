// Grouped attention against the equation in float64, with gradients: each group of queries has its own context and weights.
#include <torch/csrc/autograd/autograd.h>

#include "ablate/kernel_attention.h"
#include "core/kernels/choice.h"
#include "tests/kernels/results.h"
#include "tests/support/skip.h"

using namespace ablate;
using test::in_double;
using test::normal;
using test::off;
using test::Threads;

namespace {

struct GroupedCase {
  std::int64_t n;
  std::vector<std::int64_t> keys;  ///< keys of each group
  std::int64_t d = 64, heads = 2, d_head = 32;
  FeatureMap map = FeatureMap::kRelu;
  bool factors = true, masses = true;
  std::int64_t batch = 3;
};
constexpr std::size_t kOwn = 7;  // number of tensors of each group

/// Draws queries, factors, output and its bias, then the context and weights of each group.
std::vector<Tensor> grouped_inputs(const GroupedCase& of) {
  const auto width = of.heads * of.d_head;
  std::vector<Tensor> inputs{normal({of.batch, of.n, of.d}, 1, 1), normal({of.batch, of.n}, 0.2, 2) + 0.5,
                             normal({of.d, width}, 0.2, 3), normal({of.d}, 0.2, 4)};
  std::uint64_t seed = 10;
  for (const auto keys : of.keys) {
    inputs.push_back(normal({of.batch, keys, of.d}, 1, ++seed));
    for (int i = 0; i < 3; ++i)
      inputs.push_back(normal({width, of.d}, 0.2, ++seed)), inputs.push_back(normal({width}, 0.2, ++seed));
  }
  return inputs;
}

/// Returns masses of keys: 0 to 3, and 0 for all keys of the last sequence.
Tensor masses(const GroupedCase& of, std::size_t group) {
  auto counts = arange(of.keys[group], kFloat).remainder(4).expand({of.batch, -1}).clone();
  counts[of.batch - 1].fill_(0);
  return counts;
}

/// Returns groups of queries: query i of sequence b reads in group (b + i) mod groups. With `some`, one query in five reads in
/// no group, and the last group has no query.
Tensor groups_of(const GroupedCase& of, bool some) {
  const auto groups = static_cast<std::int64_t>(of.keys.size());
  const auto place = arange(of.n, kLong).unsqueeze(0) + arange(of.batch, kLong).unsqueeze(1);
  if (!some) return place.remainder(groups);
  return place.remainder(std::max<std::int64_t>(1, groups - 1)).masked_fill(place.remainder(5) == 0, -1);
}

Tensor grouped(const GroupedCase& of, const std::vector<Tensor>& inputs, const Tensor& group_of) {
  std::vector<QueryGroup> groups;
  for (std::size_t g = 0; g < of.keys.size(); ++g) {
    const auto* const own = &inputs[4 + g * kOwn];
    groups.push_back({own[0], of.masses ? masses(of, g) : Tensor(), own[1], own[2], own[3], own[4], own[5], own[6]});
  }
  Linear output(1, 1, true, make_generator(1));
  output.weight = inputs[2], output.bias = inputs[3];
  return grouped_kernel_attention(inputs[0], groups, group_of, of.factors ? inputs[1] : Tensor(), output, of.heads, of.map);
}

/// Lets every query read in every group. Multiplies reads by 0 in groups to which the query does not belong.
Tensor everywhere(const GroupedCase& of, const std::vector<Tensor>& inputs, const Tensor& group_of) {
  auto sum = zeros({of.batch, of.n, of.heads * of.d_head}, kDouble);
  for (std::size_t g = 0; g < of.keys.size(); ++g) {
    const auto* const own = &inputs[4 + g * kOwn];
    const auto part = [&](const Tensor& x, std::size_t i) { return split_heads(linear(x, own[i], own[i + 1]), of.heads); };
    const auto mass = of.masses ? masses(of, g).to(kDouble).unsqueeze(1) : Tensor();
    const auto read = kernel_attention(part(inputs[0], 1), part(own[0], 3), part(own[0], 5), mass, of.map);
    sum = sum + merge_heads(read) * (group_of == static_cast<std::int64_t>(g)).to(kDouble).unsqueeze(-1);
  }
  if (of.factors) sum = sum * inputs[1].unsqueeze(-1);
  return linear(sum, inputs[2], inputs[3]);
}

/// Returns y and the gradients of all inputs, 0 for an input without a gradient.
template <class Form>
std::vector<Tensor> grouped_results(const GroupedCase& of, std::vector<Tensor> inputs, const Tensor& group_of,
                                    const Form& form) {
  for (auto& input : inputs) input = input.detach().requires_grad_();
  const auto y = form(of, inputs, group_of);
  std::vector<Tensor> all{y.detach()};
  auto found = torch::autograd::grad({y}, inputs, {normal(y.sizes(), 1, 90).to(y.scalar_type())}, true, false, true);
  for (std::size_t i = 0; i < inputs.size(); ++i) all.push_back(found[i].defined() ? found[i] : zeros_like(inputs[i]));
  return all;
}

constexpr double kGroupedRounding = 1e-5;  // rounding of float32 if sums of rectified weights may be small

}  // namespace

TEST_CASE("grouped attention gives the equation's values and gradients") {
  if (kernels::instructions().empty()) return skip("this processor lacks the instructions that the fused kernels need");
  for (const int threads : {1, 2})
    for (const bool some : {false, true})
      for (const auto map : {FeatureMap::kElu, FeatureMap::kRelu})
        for (const std::int64_t n : {1, 63, 64, 65, 300})
          for (const auto& [keys, d, heads, d_head] :
               {std::tuple<std::vector<std::int64_t>, std::int64_t, std::int64_t, std::int64_t>{{40, 7, 130}, 64, 2, 32},
                {{64}, 32, 1, 32},
                {{5, 65}, 16, 2, 48}})
            for (const bool plain : {false, true}) {
              INFO(threads << " threads, some " << some << ", relu " << (map == FeatureMap::kRelu) << ", " << n << " queries, "
                           << keys.size() << " groups, " << d << " channels, plain " << plain);
              const Threads with(threads);
              const GroupedCase of{n, keys, d, heads, d_head, map, !plain, !plain};
              const auto inputs = grouped_inputs(of);
              const auto group_of = groups_of(of, some);
              const auto expected = grouped_results(of, in_double(inputs), group_of, everywhere);
              CHECK(off(grouped_results(of, inputs, group_of, grouped), expected) < kGroupedRounding);
            }
}

TEST_CASE("a query in no group gives the output's bias, without gradient") {
  if (kernels::instructions().empty()) return skip("this processor lacks the instructions that the fused kernels need");
  const GroupedCase of{100, {40, 7, 130}};
  const auto inputs = grouped_inputs(of);
  const auto group_of = groups_of(of, true);
  const auto found = grouped_results(of, inputs, group_of, grouped);
  const auto gone = (group_of == -1).unsqueeze(-1);
  REQUIRE(gone.sum().item<std::int64_t>() > 50);
  CHECK((found[0] - inputs[3]).masked_select(gone).abs().max().item<double>() == 0);
  CHECK(found[1].masked_select(gone).abs().max().item<double>() == 0);
  for (std::size_t i = 0; i < kOwn; ++i) CHECK(found[5 + 2 * kOwn + i].abs().max().item<double>() == 0);  // group 2 is not read
}

TEST_CASE("if a query's group, a factor or a weight is changed, results differ by more than rounding") {
  if (kernels::instructions().empty()) return skip("this processor lacks the instructions that the fused kernels need");
  const GroupedCase of{100, {40, 7, 130}};
  const auto inputs = grouped_inputs(of);
  const auto group_of = groups_of(of, false);
  const auto expected = grouped_results(of, in_double(inputs), group_of, everywhere);
  auto other = group_of.clone();
  other[0][50] = (group_of[0][50] + 1).remainder(3);
  CHECK(off(grouped_results(of, inputs, other, grouped), expected) > 10 * kGroupedRounding);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    INFO(i);
    auto changed = inputs;
    changed[i] = changed[i] + 0.001 * changed[i].abs().max();
    CHECK(off(grouped_results(of, changed, group_of, grouped), expected) > 10 * kGroupedRounding);
  }
}

TEST_CASE("grouped attention reports that it has no fused form") {
  const auto x = normal({2, 40, 64}, 1, 1);
  CHECK(may_group_attention(x, 64, 2) == !kernels::instructions().empty());
  CHECK(!may_group_attention(x, 64, 8));  // heads of 8 channels are too narrow
  CHECK(!may_group_attention(x, 64, 3));
  CHECK(!may_group_attention(x.to(kDouble), 64, 2));
  CHECK(!may_group_attention(normal({2, 0, 64}, 1, 1), 64, 2));
  const GroupedCase of{40, {40}};
  auto inputs = grouped_inputs(of);
  inputs[4] = inputs[4].narrow(2, 0, 48);  // a context with other channels
  CHECK_THROWS_AS(grouped(of, inputs, groups_of(of, false)), std::invalid_argument);
}
