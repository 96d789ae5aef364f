// The fused layer of linear attention against its equation in float64, with torch's own gradients.
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include "ablate/kernel_attention.h"
#include "core/kernels/choice.h"
#include "core/trial/model/instances.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

struct Case {
  std::int64_t batch, n, keys;  ///< keys 0: self-attention
  std::int64_t d, heads, d_head;
  FeatureMap map;
  bool masked;
};

Tensor normal(at::IntArrayRef sizes, double deviation, std::uint64_t seed) {
  return (randn(sizes, make_generator(seed), kDouble) * deviation).to(kFloat);
}

/// Queries, context (but in self-attention), and the weights and biases of the four projections.
std::vector<Tensor> inputs_of(const Case& of) {
  const auto width = of.heads * of.d_head;
  std::vector<Tensor> inputs{normal({of.batch, of.n, of.d}, 1, 1)};
  if (of.keys > 0) inputs.push_back(normal({of.batch, of.keys, of.d}, 1, 2));
  for (std::uint64_t i = 0; i < 4; ++i) {
    const bool out = i == 3;
    inputs.push_back(normal(out ? at::IntArrayRef({of.d, width}) : at::IntArrayRef({width, of.d}), 0.2, 3 + 2 * i));
    inputs.push_back(normal({out ? of.d : width}, 0.2, 4 + 2 * i));
  }
  return inputs;
}

/// Item b counts its first keys alone; of the last item, none.
Tensor mask_of(const Case& of) {
  if (!of.masked) return {};
  const auto keys = of.keys > 0 ? of.keys : of.n;
  auto mask = ones({of.batch, keys}, kBool);
  for (std::int64_t b = 0; b < of.batch; ++b) mask[b].slice(0, keys * (of.batch - 1 - b) / of.batch).fill_(false);
  return mask;
}

/// y and the gradients of all inputs.
std::vector<Tensor> results(const Case& of, std::vector<Tensor> inputs, bool fused, const Tensor& mask) {
  for (auto& input : inputs) input = input.detach().requires_grad_();
  const std::size_t first = of.keys > 0 ? 2 : 1;
  const auto projection = [&](std::size_t i) {
    auto made = make_linear(1, 1, true, make_generator(1));
    made->weight = inputs[first + 2 * i], made->bias = inputs[first + 2 * i + 1];
    return made;
  };
  const Projections by{projection(0), projection(1), projection(2), projection(3), of.heads};
  const auto y = projected_kernel_attention(inputs[0], inputs[of.keys > 0 ? 1 : 0], mask, by, of.map, fused);
  std::vector<Tensor> all{y.detach()};
  for (auto& one : torch::autograd::grad({y}, inputs, {normal(y.sizes(), 1, 20).to(y.scalar_type())})) all.push_back(one);
  return all;
}
std::vector<Tensor> results(const Case& of, bool fused) { return results(of, inputs_of(of), fused, mask_of(of)); }

std::vector<Tensor> exact(const Case& of) {
  auto inputs = inputs_of(of);
  for (auto& input : inputs) input = input.to(kDouble);
  return results(of, inputs, false, mask_of(of));
}

/// Largest difference of a tensor, in parts of its largest number.
double worst(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    most = std::max(
        most, ((found[i].to(kDouble) - expected[i]).abs().max() / expected[i].abs().max().clamp_min(1e-3)).item<double>());
  return most;
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!a[i].equal(b[i])) return false;
  return true;
}

constexpr double kFloatRounding = 1e-5;  // of float32, where sums of rectified weights may be small

struct Threads {
  explicit Threads(int count) : before(at::get_num_threads()) { at::set_num_threads(count); }
  ~Threads() { at::set_num_threads(before); }
  int before;
};

}  // namespace

TEST_CASE("both forms of linear attention give the equation's values and gradients") {
  for (const int threads : {1, 2})
    for (const auto map : {FeatureMap::kElu, FeatureMap::kRelu})
      for (const bool masked : {false, true})
        for (const auto& [d, heads, d_head] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{64, 2, 32},
                                               {32, 1, 32},
                                               {64, 4, 16},
                                               {48, 1, 16},
                                               {16, 2, 48}})
          for (const auto& [n, keys] :
               {std::pair<std::int64_t, std::int64_t>{1, 0}, {63, 0}, {64, 0}, {65, 0}, {300, 0}, {7, 130}, {130, 7}}) {
            const Case of{3, n, keys, d, heads, d_head, map, masked};
            INFO(threads << " threads, relu " << (map == FeatureMap::kRelu) << ", masked " << masked << ", " << d
                         << " channels, " << heads << " heads of " << d_head << ", " << n << " queries, " << keys << " keys");
            const Threads with(threads);
            const auto expected = exact(of);
            // With relu a query may agree with next to no key: then float32 itself is far off.
            const auto allowed = std::max(kFloatRounding, 3 * worst(results(of, false), expected));
            CHECK(worst(results(of, true), expected) < allowed);
            if (map == FeatureMap::kElu && n > 1) CHECK(allowed == kFloatRounding);  // of one key nothing depends on the weight
          }
}

TEST_CASE("what is masked changes nothing, whatever it holds, and a query without keys reads 0") {
  const Case of{3, 100, 0, 64, 2, 32, FeatureMap::kElu, true};
  auto inputs = inputs_of(of);
  const auto mask = mask_of(of);
  const auto before = results(of, inputs, true, mask);
  inputs[0] = inputs[0].masked_fill(mask.logical_not().unsqueeze(-1), std::numeric_limits<float>::quiet_NaN());
  const auto after = results(of, inputs, true, mask);
  const auto counted = mask.unsqueeze(-1);
  CHECK(before[0].masked_select(counted).equal(after[0].masked_select(counted)));
  for (std::size_t i = 1; i < before.size(); ++i) CHECK(before[i].equal(after[i]));
  const auto bias = inputs.back();  // of the last item no key is left
  CHECK((before[0][2] - bias).abs().max().item<double>() == 0);
}

TEST_CASE("an item's bits do not depend on its batch") {
  const Case of{3, 100, 0, 64, 2, 32, FeatureMap::kElu, false};
  const auto inputs = inputs_of(of);
  auto alone = inputs;
  alone[0] = inputs[0].slice(0, 1, 2);
  const auto all = results(of, inputs, true, {})[0];
  CHECK(all.slice(0, 1, 2).equal(results(of, alone, true, {})[0]));
  const Threads with(2);
  CHECK(all.equal(results(of, inputs, true, {})[0]));
}

TEST_CASE("linear attention has a fused form where sizes are whole vectors and stay in a cache") {
  const bool here = !kernels::instructions().empty();
  const auto is_fused = [](std::int64_t d, std::int64_t heads, std::int64_t d_head) {
    const Case of{2, 40, 0, d, heads, d_head, FeatureMap::kElu, false};
    return !same_bits(results(of, true), results(of, false));
  };
  CHECK(is_fused(64, 2, 32) == here);
  CHECK(is_fused(256, 16, 16) == here);
  CHECK(!is_fused(64, 8, 8));
  CHECK(!is_fused(24, 1, 16));
  CHECK(!is_fused(272, 1, 16));
}

TEST_CASE("a wrong layer is not within rounding") {
  const Case of{3, 100, 0, 64, 2, 32, FeatureMap::kElu, true};
  const auto inputs = inputs_of(of);
  const auto expected = exact(of);
  auto mask = mask_of(of);
  mask[0][0].fill_(false);  // one key of one item
  CHECK(worst(results(of, inputs, true, mask), expected) > 10 * kFloatRounding);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    INFO(i);
    auto other = inputs;
    other[i] = other[i] + 0.001 * other[i].abs().max();
    CHECK(worst(results(of, other, true, mask_of(of)), expected) > 10 * kFloatRounding);
  }
}
