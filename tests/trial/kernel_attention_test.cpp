// The fused kernel attention equals its equation in values and gradients. Torch computes the equation's gradients.
#include "ablate/kernel_attention.h"

#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <limits>

#include "core/trial/model/instances.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

Tensor normal(at::IntArrayRef sizes, std::uint64_t seed) { return randn(sizes, make_generator(seed), kDouble); }

/// Computes the output from a weight for every pair of a query and a key (Katharopoulos et al. 2020, Eq. 4).
Tensor plain(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mass, FeatureMap map) {
  const auto phi = [&](const Tensor& x) {
    return map == FeatureMap::kRelu ? x.relu() : (x + 1).where(x > 0, x.clamp_max(0).exp());
  };
  auto weights = phi(q).matmul(phi(k).transpose(-1, -2));
  if (mass.defined()) weights = weights * mass.unsqueeze(-2);
  return weights.matmul(v) / weights.sum(-1, true);
}

/// Returns the largest difference; infinity if there is a NaN.
double worst(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto off = (a[i] - b[i]).abs().max().item<double>();
    most = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(most, off);
  }
  return most;
}

}  // namespace

TEST_CASE("kernel attention and its gradients equal the equation") {
  for (const auto map : {FeatureMap::kElu, FeatureMap::kRelu})
    for (const std::int64_t mass_heads : {0, 1, 3})
      for (const bool token_major : {false, true}) {
        INFO("relu " << (map == FeatureMap::kRelu) << ", mass of " << mass_heads << " heads, token-major " << token_major);
        const auto tokens = [&](std::int64_t length, std::int64_t d, std::uint64_t seed) {
          return token_major ? normal({2, length, 3, d}, seed).transpose(1, 2) : normal({2, 3, length, d}, seed);
        };
        // The inputs are shifted, so that with relu every query has a key with a positive weight.
        std::vector<Tensor> inputs = {tokens(7, 4, 1) + 1.5, tokens(5, 4, 2) + 1.5, tokens(5, 6, 3)};
        Tensor mass;
        if (mass_heads > 0) inputs.push_back(mass = normal({2, mass_heads, 5}, 4).abs());
        for (auto& input : inputs) input = input.detach().requires_grad_();
        if (mass_heads > 0) mass = inputs.back();
        const auto gradient = normal({2, 3, 7, 6}, 5);
        const auto fused = kernel_attention(inputs[0], inputs[1], inputs[2], mass, map);
        const auto expected = plain(inputs[0], inputs[1], inputs[2], mass, map);
        CHECK(worst({fused}, {expected}) < 1e-12);
        CHECK(worst(torch::autograd::grad({fused}, inputs, {gradient}), torch::autograd::grad({expected}, inputs, {gradient})) <
              1e-11);
      }
}

TEST_CASE("a query whose weights sum to 0 reads 0, and passes no gradient") {
  auto q = normal({1, 1, 3, 4}, 1).abs();
  q.select(2, 1).fill_(-1);  // relu makes it 0
  q.requires_grad_();
  const auto k = normal({1, 1, 5, 4}, 2).abs().requires_grad_(), v = normal({1, 1, 5, 2}, 3).requires_grad_();
  const auto out = kernel_attention(q, k, v, {}, FeatureMap::kRelu);
  CHECK(out.select(2, 1).abs().max().item<double>() == 0);
  const auto gradients = torch::autograd::grad({out.select(2, 1).sum()}, {q, k, v});
  for (const auto& gradient : gradients) CHECK(gradient.abs().max().item<double>() == 0);
}

TEST_CASE("sums of half precision are formed in float32") {
  // 4096 keys of mass 1. float16 counts in steps of 1 only to 2048, and its largest number is 65504.
  const auto all_one = ones({1, 1, 4096, 64}, at::kHalf);
  const auto out = kernel_attention(all_one, all_one, 3 * all_one, {}, FeatureMap::kElu);
  CHECK(out.scalar_type() == at::kHalf);
  CHECK((out - 3).abs().max().item<double>() == 0);
}

TEST_CASE("the result has the memory layout of the next projection") {
  const auto out =
      kernel_attention(normal({2, 3, 7, 4}, 1), normal({2, 3, 5, 4}, 2), normal({2, 3, 5, 6}, 3), {}, FeatureMap::kElu);
  CHECK(out.transpose(1, 2).is_contiguous());
}

TEST_CASE("elu + 1 is e^x for all numbers below 0, with slope 1 at 0") {
  for (const auto type : {kFloat, kDouble}) {
    const auto x = integers(std::vector<std::int64_t>{-80, -40, -20, -1, 0, 1, 20}).to(type).requires_grad_();
    const auto phi = kernel_features(x, FeatureMap::kElu);
    const auto wide = x.detach().to(kDouble), below = wide.clamp_max(0).exp();
    const double rounding = type == kFloat ? 1e-6 : 1e-15;
    CHECK((phi.to(kDouble) / (below + wide.clamp_min(0)) - 1).abs().max().item<double>() < rounding);
    const auto slope = torch::autograd::grad({phi.sum()}, {x})[0].to(kDouble);
    CHECK((slope / below - 1).abs().max().item<double>() < rounding);
  }
  const auto nan = full({2}, std::numeric_limits<double>::quiet_NaN());
  for (const auto map : {FeatureMap::kElu, FeatureMap::kRelu}) CHECK(kernel_features(nan, map).isnan().all().item<bool>());
}

TEST_CASE("weights whose sum overflows give NaN, not 0") {
  const auto large = full({1, 1, 3, 4}, 1e25, kFloat), small = full({1, 1, 3, 4}, 1e-20, kFloat);
  for (const auto map : {FeatureMap::kElu, FeatureMap::kRelu})
    CHECK(kernel_attention(large, large, small, {}, map).isnan().all().item<bool>());
}

TEST_CASE("a second derivative is refused") {
  const auto x = normal({1, 1, 3, 4}, 1).requires_grad_();
  const auto out = kernel_attention(x, x, x, {}, FeatureMap::kElu).sum();
  CHECK_THROWS_AS(torch::autograd::grad({out}, {x}, {}, true, true), std::runtime_error);
}
