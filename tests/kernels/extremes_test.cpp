// Numbers at the ends of float32's range, with any instructions: NaN and infinity spread, and finite results are right.
#include <ATen/Context.h>
#include <torch/csrc/autograd/autograd.h>

#include "ablate/kernel_attention.h"
#include "core/kernels/feed_forward.h"
#include "tests/kernels/results.h"
#include "tests/support/catch.h"

using namespace ablate;
using test::in_double;
using test::normal;
using test::worst;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr int kChannels = kernels::cpu::kLanes;

/// Returns all forms that this machine can run, even if torch may not use their instructions.
std::vector<const kernels::cpu::Form*> forms() {
  std::vector<const kernels::cpu::Form*> all{&kernels::cpu::plain::kForm};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) all.push_back(&kernels::cpu::avx2::kForm);
  if (__builtin_cpu_supports("avx512dq") != 0) all.push_back(&kernels::cpu::avx512::kForm);
#endif
  return all;
}

void product(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc, bool add) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float total = add ? c[i * ldc + j] : 0;
      for (int l = 0; l < k; ++l) total += a[i * lda + l] * b[l * ldb + j];
      c[i * ldc + j] = total;
    }
}

const float* numbers(const Tensor& tensor) { return tensor.const_data_ptr<float>(); }

Tensor floats(const std::vector<double>& values) {
  auto result = empty({static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) result.mutable_data_ptr<float>()[i] = static_cast<float>(values[i]);
  return result;
}

struct Activated {
  Tensor value, slope;
};

/// Returns the activation of 16 numbers and its slope. x and W1 are 0, b1 has the numbers, and W2 is the identity.
Activated activated(const kernels::cpu::Form& form, bool relu, const Tensor& u) {
  const auto none = zeros({kChannels, kChannels}), all_one = ones({kChannels}), identity = all_one.diag();
  const kernels::cpu::FeedForwardCall call{.tokens = 1,
                                           .d = kChannels,
                                           .h = kChannels,
                                           .relu = relu,
                                           .gamma = numbers(all_one),
                                           .beta = numbers(none),
                                           .w1 = numbers(none),
                                           .b1 = numbers(u),
                                           .w2 = numbers(identity),
                                           .b2 = numbers(none),
                                           .x = numbers(none),
                                           .product = product};
  auto y = empty({kChannels}), scratch = empty({kernels::cpu::feed_forward_scratch(call)}), rest = empty({5, 256});
  auto of_x = empty({kChannels}), slope = empty({kChannels});
  const auto to = [](Tensor& tensor) { return tensor.mutable_data_ptr<float>(); };
  form.feed_forward(call, to(scratch), to(y));
  const auto other = [&](int i) { return to(rest) + i * 256; };
  form.feed_forward_backward(call, to(scratch), numbers(all_one), to(of_x),
                             {other(0), other(1), other(2), to(slope), other(3), other(4)});
  return {y, slope};
}

/// Returns SiLU of 16 numbers and its slope. The filter has one token and is 0, and the bias has the numbers.
Activated convolved(const kernels::cpu::Form& form, const Tensor& u) {
  const auto none = zeros({kChannels}), all_one = ones({kChannels});
  const kernels::cpu::ShortConvolutionCall call{.batch = 1,
                                                .tokens = 1,
                                                .channels = kChannels,
                                                .length = 1,
                                                .x = {numbers(none)},
                                                .filter = numbers(none),
                                                .bias = numbers(u)};
  auto y = empty({kChannels}), scratch = empty({kernels::cpu::short_convolution_scratch(call)}), of_x = empty({kChannels}),
       weights = empty({2, kChannels});
  form.short_convolution(call, scratch.mutable_data_ptr<float>(), {y.mutable_data_ptr<float>()});
  form.short_convolution_backward(call, scratch.mutable_data_ptr<float>(), {numbers(all_one)},
                                  {{of_x.mutable_data_ptr<float>()}, {}, weights.mutable_data_ptr<float>()});
  return {y, weights[1]};
}

/// Returns y and sum_j phi(k_j) for one query, key and value. Weights are 0, so the biases are the query and the key.
std::pair<Tensor, Tensor> attended(const kernels::cpu::Form& form, bool relu, const Tensor& bq, const Tensor& bk, float value) {
  const auto none = zeros({kChannels, kChannels}), identity = ones({kChannels}).diag(), bv = full({kChannels}, value);
  const kernels::cpu::LinearAttentionCall call{.batch = 1,
                                               .n = 1,
                                               .m = 1,
                                               .d = kChannels,
                                               .heads = 1,
                                               .d_head = kChannels,
                                               .relu = relu,
                                               .x = numbers(none),
                                               .context = numbers(none),
                                               .wq = numbers(none),
                                               .bq = numbers(bq),
                                               .wk = numbers(none),
                                               .bk = numbers(bk),
                                               .wv = numbers(none),
                                               .bv = numbers(bv),
                                               .wo = numbers(identity),
                                               .bo = numbers(none),
                                               .product = product};
  auto y = empty({kChannels}), memory = empty({call.memory()}), scratch = empty({kernels::cpu::linear_attention_scratch(call)});
  form.linear_attention(call, scratch.mutable_data_ptr<float>(), y.mutable_data_ptr<float>(), memory.mutable_data_ptr<float>());
  return {y, memory.slice(0, kChannels * kChannels)};
}

/// Returns y and the gradients of all inputs (queries, then the four projections) of self-attention in 2 heads of 16.
std::vector<Tensor> results(std::vector<Tensor> inputs, FeatureMap map, bool fused) {
  for (auto& input : inputs) input = input.detach().requires_grad_();
  const auto y = projected_kernel_attention(inputs[0], inputs[0], {}, test::projections_of(inputs, 1, 2), map, fused);
  std::vector<Tensor> all{y.detach()};
  for (auto& one : torch::autograd::grad({y}, inputs, {normal(y.sizes(), 1, 20).to(y.scalar_type())})) all.push_back(one);
  return all;
}
std::vector<Tensor> inputs_of_attention() {
  std::vector<Tensor> inputs{normal({2, 70, 32}, 1, 1)};
  for (std::uint64_t i = 0; i < 4; ++i)
    inputs.push_back(normal({32, 32}, 0.2, 2 + i)), inputs.push_back(normal({32}, 0.2, 7 + i));
  return inputs;
}
constexpr std::size_t kQueryBias = 2, kKeyBias = 4;

bool all_nan(const Tensor& x) { return x.isnan().all().item<bool>(); }

}  // namespace

TEST_CASE("activations and their slopes are right at any size, with any instructions") {
  const auto ends = floats({-8.7, -5.8, -2.9, 0, 2.9, 5.8, 8.7, -20, 20, -1e4, 1e4, -1e20, 1e20, -0., 1e-30, -1e-30});
  for (const auto* form : forms())
    for (const bool relu : {false, true})
      for (const auto& u : {ends, 0.4 * arange(16, kFloat) + -3.1}) {
        INFO("relu " << relu);
        const auto x = u.to(kDouble).requires_grad_();
        const auto expected = relu ? x.relu() : gelu(x);
        const auto slope = torch::autograd::grad({expected.sum()}, {x})[0];
        const auto found = activated(*form, relu, u.contiguous());
        const auto scale = expected.detach().abs().clamp_min(1);
        CHECK(worst({(found.value - expected.detach()) / scale}, {zeros({16}, kDouble)}, 1) < 1e-6);
        CHECK(worst({found.slope}, {slope}, 1) < 1e-6);
      }
}

TEST_CASE("an activation of NaN is NaN, and relu passes its gradient on, as in torch") {
  for (const auto* form : forms())
    for (const bool relu : {false, true}) {
      const auto found = activated(*form, relu, full({kChannels}, kNaN));
      CHECK(all_nan(found.value));
      CHECK((relu ? found.slope.equal(ones({kChannels})) : all_nan(found.slope)));
    }
}

TEST_CASE("SiLU and its slope are right at any size, with any instructions") {
  const auto infinity = std::numeric_limits<double>::infinity();
  const auto ends = floats({-8.7, -5.8, -2.9, 0, 2.9, 20, 1e4, 1e37, -20, -86, -88, -1e4, -1e37, infinity, -infinity, 1e-30});
  for (const auto* form : forms()) {
    const auto x = ends.to(kDouble).requires_grad_();
    const auto expected = silu(x);
    const auto slope = torch::autograd::grad({expected.sum()}, {x})[0];
    const auto found = convolved(*form, ends);
    CHECK(test::same_gaps({found.value, found.slope}, {expected.detach(), slope}));
    const auto part = [](const Tensor& of) { return of.to(kDouble).slice(0, 0, 13); };  // the numbers without infinities
    const auto scale = part(expected.detach()).abs().clamp_min(1);
    CHECK(worst({(part(found.value) - part(expected.detach())) / scale}, {zeros({13}, kDouble)}, 1) < 1e-6);
    CHECK(worst({part(found.slope)}, {part(slope)}, 1) < 1e-6);
    CHECK(found.value[13].item<double>() == infinity);
  }
}

TEST_CASE("features are right at any size, with any instructions") {
  const auto x = floats({-1e20, -1e4, -80, -40, -20, -17, -3, -1e-3, -0., 0, 1e-3, 1, 3, 20, 1e4, 1e20});
  for (const auto* form : forms())
    for (const bool relu : {false, true}) {
      const auto found = attended(*form, relu, x, x, 1).second.to(kDouble), wide = x.to(kDouble);
      const auto expected = relu ? wide.relu() : wide.clamp_max(0).exp() + wide.relu();
      const auto scale = expected.clamp_min(1.7e-38);  // smallest exponential of the forms
      CHECK(((found - expected) / scale).abs().max().item<double>() <= 1);
      CHECK(((found - expected) / scale).abs().slice(0, 2).max().item<double>() < 1e-6);
    }
}

TEST_CASE("a query or key of NaN, and weights too large for float32, give NaN with any instructions") {
  const auto some = full({kChannels}, 0.5F), nan = full({kChannels}, kNaN), large = full({kChannels}, 1e25F);
  for (const auto* form : forms())
    for (const bool relu : {false, true}) {
      CHECK(all_nan(attended(*form, relu, nan, some, 1).first));
      CHECK(all_nan(attended(*form, relu, some, nan, 1).first));
      CHECK(all_nan(attended(*form, relu, some, nan, 1).second));
      for (const float value : {1e-20F, 1.F, 1e20F}) CHECK(all_nan(attended(*form, relu, large, large, value).first));
      CHECK_FALSE(all_nan(attended(*form, relu, some, some, 1).first));
    }
}

TEST_CASE("NaN spreads in both forms alike") {
  for (const auto map : {FeatureMap::kElu, FeatureMap::kRelu})
    for (const std::size_t bias : {kQueryBias, kKeyBias}) {
      INFO("relu " << (map == FeatureMap::kRelu) << ", bias " << bias);
      auto inputs = inputs_of_attention();
      inputs[bias][3].fill_(kNaN);  // in head 0
      const auto expected = results(in_double(inputs), map, false);
      CHECK(all_nan(expected[0]));
      for (const bool fused : {false, true}) {
        const auto found = results(inputs, map, fused);
        CHECK(test::same_gaps(found, expected));
        CHECK(worst(test::without_gaps(found), test::without_gaps(expected), 1e-3) < 1e-5);
      }
    }
  for (const auto activation : {kernels::Activation::kGelu, kernels::Activation::kRelu}) {
    std::vector<Tensor> inputs{
        normal({70, 32}, 1, 1),   ones({32}), zeros({32}), normal({64, 32}, 0.2, 2), normal({64}, 0.2, 3),
        normal({32, 64}, 0.2, 4), zeros({32})};
    inputs[4][5].fill_(kNaN);
    const auto of = [&](std::vector<Tensor> all, kernels::Choice choice) {
      for (auto& input : all) input = input.detach().requires_grad_();
      const auto y = kernels::feed_forward(all[0], {all[1], all[2], all[3], all[4], all[5], all[6], activation}, choice);
      auto found = torch::autograd::grad({y}, all, {normal(y.sizes(), 1, 20).to(y.scalar_type())});
      found.push_back(y.detach());
      return found;
    };
    const auto expected = of(in_double(inputs), kernels::Choice::kReference);
    CHECK(all_nan(expected.back()));
    for (const auto choice : {kernels::Choice::kReference, kernels::Choice::kFused}) {
      const auto found = of(inputs, choice);
      CHECK(test::same_gaps(found, expected));
      CHECK(worst(test::without_gaps(found), test::without_gaps(expected)) < 1e-5);
    }
  }
}

TEST_CASE("features of e^-20 have the right weight in both forms") {
  auto inputs = inputs_of_attention();
  for (const auto bias : {kQueryBias, kKeyBias}) inputs[bias] = inputs[bias] - 20;
  const auto expected = results(in_double(inputs), FeatureMap::kElu, false);
  for (const bool fused : {false, true}) {
    INFO("fused " << fused);
    CHECK(worst(results(inputs, FeatureMap::kElu, fused), expected, 1e-3) < 3e-5);  // 20 itself is rounded to 2e-6
  }
}

TEST_CASE("a sum of weights up to the limit counts as 0, and a sum just above the limit does not") {
  const auto least = static_cast<float>(least_kernel_sum(ones({1})));
  REQUIRE(least == std::ldexp(1.F, -63));
  for (const bool fused : {false, true})
    for (const float weight : {std::nextafter(least, 0.F), least, std::nextafter(least, 1.F)}) {
      INFO("fused " << fused << ", " << weight);
      std::vector<Tensor> inputs{normal({1, 1, 16}, 1, 1)};
      for (std::uint64_t i = 0; i < 4; ++i) inputs.push_back(zeros({16, 16})), inputs.push_back(zeros({16}));
      inputs[kQueryBias][0].fill_(std::ldexp(1.F, -31)), inputs[kKeyBias][0].fill_(std::ldexp(weight, 31));
      inputs[6].fill_(3), inputs[7] = ones({16}).diag(), inputs[8].fill_(0.25);
      for (auto& input : inputs) input.requires_grad_();
      const auto y =
          projected_kernel_attention(inputs[0], inputs[0], {}, test::projections_of(inputs, 1, 1), FeatureMap::kRelu, fused);
      const bool read = weight > least;
      CHECK((y - (read ? 3.25 : 0.25)).abs().max().item<double>() < 1e-6);
      const auto gradients = torch::autograd::grad({y.sum()}, inputs);
      for (const auto& gradient : gradients) CHECK(gradient.isfinite().all().item<bool>());
      CHECK(gradients.back().equal(ones({16})));
      CHECK((gradients[6] - (read ? 1 : 0)).abs().max().item<double>() < 1e-6);  // gradient of the values' bias
      if (!read)
        for (std::size_t i = 0; i + 1 < gradients.size(); ++i) CHECK(gradients[i].abs().max().item<double>() == 0);
    }
}
