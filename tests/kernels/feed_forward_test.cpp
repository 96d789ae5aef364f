// Fused feed-forward part against its equation in float64, with torch's own gradients.
#include "core/kernels/feed_forward.h"

#include <ATen/Context.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/kernels/results.h"
#include "tests/support/catch.h"

using namespace ablate;
using kernels::Choice;
using test::in_double;
using test::normal;
using test::same_bits;
using test::Threads;
using test::worst;

namespace {

struct Case {
  std::int64_t tokens, d, h;
  kernels::Activation activation;
  double inner_dropout, dropout;
};

/// Draws x, gamma, beta, w1, b1, w2, b2.
std::vector<Tensor> inputs_of(const Case& of) {
  return {normal({of.tokens, of.d}, 2, 1) + 0.5,
          normal({of.d}, 0.2, 2) + 1,
          normal({of.d}, 0.2, 3),
          normal({of.h, of.d}, 0.2, 4),
          normal({of.h}, 0.2, 5),
          normal({of.d, of.h}, 0.2, 6),
          normal({of.d}, 0.2, 7)};
}

kernels::FeedForward weights_of(const Case& of, const std::vector<Tensor>& inputs) {
  return {.gamma = inputs[1],
          .beta = inputs[2],
          .w1 = inputs[3],
          .b1 = inputs[4],
          .w2 = inputs[5],
          .b2 = inputs[6],
          .activation = of.activation,
          .inner_dropout = of.inner_dropout,
          .dropout = of.dropout};
}

/// Returns y and the gradients of all inputs, which may have any type, for one draw of dropout.
std::vector<Tensor> results(const Case& of, std::vector<Tensor> inputs, Choice choice) {
  for (auto& input : inputs) input = input.detach().requires_grad_();
  at::manual_seed(11);
  const auto y = kernels::feed_forward(inputs[0], weights_of(of, inputs), choice);
  std::vector<Tensor> all{y.detach()};
  for (auto& gradient : torch::autograd::grad({y}, inputs, {normal(y.sizes(), 1, 8).to(y.scalar_type())}))
    all.push_back(gradient);
  return all;
}

bool is_fused(const Case& of) {
  const auto inputs = inputs_of(of);
  return !same_bits(results(of, inputs, Choice::kFused), results(of, inputs, Choice::kReference));
}

constexpr auto kGelu = kernels::Activation::kGelu, kRelu = kernels::Activation::kRelu;
constexpr double kFloatRounding = 3e-6;  // 50 units in the last place of float32

}  // namespace

TEST_CASE("both forms give the equation's values and gradients, at any length, with dropout") {
  for (const int threads : {1, 2})
    for (const auto activation : {kGelu, kRelu})
      for (const auto& [inner, outer] : {std::pair{0., 0.}, {0.3, 0.}, {0., 0.1}, {0.2, 0.5}})
        for (const auto& [d, h] : {std::pair<std::int64_t, std::int64_t>{16, 32}, {64, 128}, {48, 80}, {128, 64}})
          for (const std::int64_t tokens : {1, 2, 63, 64, 65, 129, 1003}) {
            const Case of{tokens, d, h, activation, inner, outer};
            INFO(threads << " threads, relu " << (activation == kRelu) << ", dropout " << inner << " and " << outer << ", " << d
                         << " x " << h << ", " << tokens << " tokens");
            const Threads with(threads);
            const auto inputs = inputs_of(of);
            const auto expected = results(of, in_double(inputs), Choice::kReference);
            CHECK(worst(results(of, inputs, Choice::kReference), expected) < kFloatRounding);
            CHECK(worst(results(of, inputs, Choice::kFused), expected) < kFloatRounding);
          }
}

TEST_CASE("errors of a wrong form exceed rounding") {
  const Case of{65, 64, 128, kGelu, 0.2, 0.1};
  const auto inputs = inputs_of(of);
  const auto expected = results(of, in_double(inputs), Choice::kReference);
  auto other = of;
  other.inner_dropout = 0.2001;
  CHECK(worst(results(other, inputs, Choice::kFused), expected) > 10 * kFloatRounding);
  auto halved = inputs;  // weights rounded to bfloat16
  halved[3] = halved[3].to(c10::kBFloat16).to(kFloat);
  CHECK(worst(results(of, halved, Choice::kFused), expected) > 10 * kFloatRounding);
  auto other_norm = inputs;  // changes the result like another epsilon
  other_norm[1] = other_norm[1] * (1 + 1e-4);
  CHECK(worst(results(of, other_norm, Choice::kFused), expected) > 10 * kFloatRounding);
  auto broken = expected;  // worst() must report NaN, and std::max(most, NaN) would ignore it
  broken[0] = broken[0].masked_fill(broken[0] == broken[0].max(), std::numeric_limits<double>::quiet_NaN());
  CHECK(std::isinf(worst(broken, expected)));
}

TEST_CASE("the same call gives the same bits") {
  for (const int threads : {1, 2}) {
    const Threads with(threads);
    const Case of{1003, 64, 128, kGelu, 0.2, 0.1};
    const auto inputs = inputs_of(of);
    CHECK(same_bits(results(of, inputs, Choice::kFused), results(of, inputs, Choice::kFused)));
  }
}

TEST_CASE("a token does not depend on the other tokens of its tile") {
  const Case of{130, 64, 128, kGelu, 0, 0};
  auto inputs = inputs_of(of);
  const auto before = results(of, inputs, Choice::kFused);
  inputs[0].slice(0, 5, 6).fill_(std::numeric_limits<float>::quiet_NaN());
  const auto after = results(of, inputs, Choice::kFused);
  for (const auto of_x : {0, 1})
    for (const auto& [begin, end] : {std::pair{0, 5}, {6, 130}})
      CHECK(before[of_x].slice(0, begin, end).equal(after[of_x].slice(0, begin, end)));
}

TEST_CASE("the reference runs if there is no fused form") {
  const bool here = !kernels::instructions().empty();
  CHECK(is_fused({64, 64, 128, kGelu, 0, 0}) == here);
  CHECK(is_fused({64, 512, 512, kGelu, 0, 0}) == here);
  CHECK(!is_fused({64, 512, 528, kGelu, 0, 0}));  // too wide for a cache
  CHECK(!is_fused({64, 24, 128, kGelu, 0, 0}));   // not whole vectors
  CHECK(!is_fused({64, 64, 120, kGelu, 0, 0}));
  const Case of{64, 64, 128, kGelu, 0, 0};
  const auto wide = in_double(inputs_of(of));
  CHECK(same_bits(results(of, wide, Choice::kFused), results(of, wide, Choice::kReference)));
}

TEST_CASE("empty inputs, views and inputs without gradients are accepted") {
  const Case of{0, 64, 128, kGelu, 0, 0};
  CHECK(results(of, inputs_of(of), Choice::kFused)[0].numel() == 0);

  const Case some{40, 64, 128, kGelu, 0, 0};
  auto inputs = inputs_of(some);
  const auto expected = results(some, inputs, Choice::kFused);
  inputs[0] = inputs[0].t().contiguous().t();  // columns are contiguous
  inputs[3] = inputs[3].t().contiguous().t();
  CHECK(same_bits(results(some, inputs, Choice::kFused), expected));

  NoGradGuard no_grad;
  CHECK(!kernels::feed_forward(inputs[0], weights_of(some, inputs), Choice::kFused).requires_grad());
}

TEST_CASE("gradients of some inputs equal the gradients computed with all inputs, and the loss may be a sum") {
  const Case of{130, 64, 128, kGelu, 0.2, 0.1};
  const auto expected = results(of, inputs_of(of), Choice::kFused);
  for (const bool of_x : {true, false}) {  // x only, or the weights only
    auto inputs = inputs_of(of);
    std::vector<Tensor> learned;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if ((i == 0) == of_x) learned.push_back(inputs[i].requires_grad_());
    at::manual_seed(11);
    const auto y = kernels::feed_forward(inputs[0], weights_of(of, inputs), Choice::kFused);
    const auto found = torch::autograd::grad({y}, learned, {normal(y.sizes(), 1, 8)});
    CHECK(same_bits(found, of_x ? std::vector{expected[1]} : std::vector(expected.begin() + 2, expected.end())));
  }
  const Case plain{130, 64, 128, kRelu, 0, 0};
  const auto summed = [&](std::vector<Tensor> inputs, Choice choice) {  // the gradient's strides are 0
    for (auto& input : inputs) input = input.detach().requires_grad_();
    return torch::autograd::grad({kernels::feed_forward(inputs[0], weights_of(plain, inputs), choice).sum()}, inputs);
  };
  CHECK(worst(summed(inputs_of(plain), Choice::kFused), summed(in_double(inputs_of(plain)), Choice::kReference)) <
        kFloatRounding);
}

TEST_CASE("the fused feed-forward part throws if a second derivative is needed") {
  const Case of{8, 16, 32, kGelu, 0, 0};
  const auto inputs = inputs_of(of);
  const auto x = inputs[0].detach().requires_grad_();
  const auto y = kernels::feed_forward(x, weights_of(of, inputs), Choice::kFused).sum();
  if (!kernels::instructions().empty()) CHECK_THROWS_AS(torch::autograd::grad({y}, {x}, {}, true, true), std::runtime_error);
  CHECK(torch::autograd::grad({y}, {x})[0].defined());
}

TEST_CASE("weights of other sizes go to the reference, which accepts or refuses them") {
  const Case of{64, 64, 128, kGelu, 0, 0};
  const auto taken = inputs_of(of);
  for (std::size_t i = 1; i < taken.size(); ++i) {
    INFO(i);
    for (const std::int64_t dim : {0, 1}) {
      if (dim >= taken[i].dim()) continue;
      if (i == 3 && dim == 0) continue;  // a w1 with a smaller h does not fit b1 and w2: i = 4 and i = 5 test this
      auto inputs = taken;
      inputs[i] = inputs[i].narrow(dim, 0, inputs[i].size(dim) - 16).contiguous();
      NoGradGuard no_grad;
      CHECK_THROWS_AS(kernels::feed_forward(inputs[0], weights_of(of, inputs), Choice::kFused), c10::Error);
    }
  }
  auto one = taken, same = taken;  // one bias for all channels
  one[6] = full({1}, 0.5), same[6] = full({64}, 0.5);
  NoGradGuard no_grad;
  CHECK(worst({kernels::feed_forward(one[0], weights_of(of, one), Choice::kFused)},
              {kernels::feed_forward(same[0], weights_of(of, same), Choice::kReference).to(kDouble)}) < kFloatRounding);
}
