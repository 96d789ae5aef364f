// The fused feed-forward part against its equation in float64, with torch's own gradients.
#include "core/kernels/feed_forward.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include "ablate/module.h"
#include "tests/support/catch.h"

using namespace ablate;
using kernels::Choice;

namespace {

struct Case {
  std::int64_t tokens, d, h;
  kernels::Activation activation;
  double inner_dropout, dropout;
};

Tensor normal(at::IntArrayRef sizes, double deviation, std::uint64_t seed) {
  return (randn(sizes, make_generator(seed), kDouble) * deviation).to(kFloat);
}

/// x, gamma, beta, w1, b1, w2, b2.
std::vector<Tensor> inputs_of(const Case& of) {
  return {normal({of.tokens, of.d}, 2, 1) + 0.5,
          normal({of.d}, 0.2, 2) + 1,
          normal({of.d}, 0.2, 3),
          normal({of.h, of.d}, 0.2, 4),
          normal({of.h}, 0.2, 5),
          normal({of.d, of.h}, 0.2, 6),
          normal({of.d}, 0.2, 7)};
}

/// y and the gradients of all inputs, of one draw. @param inputs of any type
std::vector<Tensor> results(const Case& of, std::vector<Tensor> inputs, Choice choice) {
  for (auto& input : inputs) input = input.detach().requires_grad_();
  at::manual_seed(11);
  const auto y = kernels::feed_forward(inputs[0],
                                       {.gamma = inputs[1],
                                        .beta = inputs[2],
                                        .w1 = inputs[3],
                                        .b1 = inputs[4],
                                        .w2 = inputs[5],
                                        .b2 = inputs[6],
                                        .activation = of.activation,
                                        .inner_dropout = of.inner_dropout,
                                        .dropout = of.dropout},
                                       choice);
  std::vector<Tensor> all{y.detach()};
  for (auto& gradient : torch::autograd::grad({y}, inputs, {normal(y.sizes(), 1, 8).to(y.scalar_type())}))
    all.push_back(gradient);
  return all;
}

std::vector<Tensor> in_double(std::vector<Tensor> tensors) {
  for (auto& tensor : tensors) tensor = tensor.to(kDouble);
  return tensors;
}

/// Largest difference of a tensor, in parts of its largest number.
double worst(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    most = std::max(most, ((found[i].to(kDouble) - expected[i]).abs().max() / expected[i].abs().max()).item<double>());
  return most;
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!a[i].equal(b[i])) return false;
  return true;
}

bool is_fused(const Case& of) {
  const auto inputs = inputs_of(of);
  return !same_bits(results(of, inputs, Choice::kFused), results(of, inputs, Choice::kReference));
}

constexpr auto kGelu = kernels::Activation::kGelu, kRelu = kernels::Activation::kRelu;
constexpr double kFloatRounding = 3e-6;  // of float32: 50 units in the last place

struct Threads {
  explicit Threads(int count) : before(at::get_num_threads()) { at::set_num_threads(count); }
  ~Threads() { at::set_num_threads(before); }
  int before;
};

}  // namespace

TEST_CASE("both forms give the equation's values and gradients, at any length, with what is dropped") {
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

TEST_CASE("a wrong form is not within rounding") {
  const Case of{65, 64, 128, kGelu, 0.2, 0.1};
  const auto inputs = inputs_of(of);
  const auto expected = results(of, in_double(inputs), Choice::kReference);
  auto other = of;
  other.inner_dropout = 0.2001;
  CHECK(worst(results(other, inputs, Choice::kFused), expected) > 10 * kFloatRounding);
  auto halved = inputs;  // weights of bfloat16
  halved[3] = halved[3].to(c10::kBFloat16).to(kFloat);
  CHECK(worst(results(of, halved, Choice::kFused), expected) > 10 * kFloatRounding);
  auto other_norm = inputs;  // as another epsilon of the norm would have it
  other_norm[1] = other_norm[1] * (1 + 1e-4);
  CHECK(worst(results(of, other_norm, Choice::kFused), expected) > 10 * kFloatRounding);
}

TEST_CASE("the same call gives the same bits") {
  for (const int threads : {1, 2}) {
    const Threads with(threads);
    const Case of{1003, 64, 128, kGelu, 0.2, 0.1};
    const auto inputs = inputs_of(of);
    CHECK(same_bits(results(of, inputs, Choice::kFused), results(of, inputs, Choice::kFused)));
  }
}

TEST_CASE("a tile's other tokens change nothing of a token") {
  const Case of{130, 64, 128, kGelu, 0, 0};
  auto inputs = inputs_of(of);
  const auto before = results(of, inputs, Choice::kFused);
  inputs[0].slice(0, 5, 6).fill_(std::numeric_limits<float>::quiet_NaN());
  const auto after = results(of, inputs, Choice::kFused);
  for (const auto of_x : {0, 1})
    for (const auto& [begin, end] : {std::pair{0, 5}, {6, 130}})
      CHECK(before[of_x].slice(0, begin, end).equal(after[of_x].slice(0, begin, end)));
}

TEST_CASE("the reference stands where there is no fused form") {
  const bool here = !kernels::instructions().empty();
  CHECK(is_fused({64, 64, 128, kGelu, 0, 0}) == here);
  CHECK(is_fused({64, 512, 512, kGelu, 0, 0}) == here);
  CHECK(!is_fused({64, 512, 528, kGelu, 0, 0}));  // too wide for a cache
  CHECK(!is_fused({64, 24, 128, kGelu, 0, 0}));   // no whole vectors
  CHECK(!is_fused({64, 64, 120, kGelu, 0, 0}));
  const Case of{64, 64, 128, kGelu, 0, 0};
  const auto wide = in_double(inputs_of(of));
  CHECK(same_bits(results(of, wide, Choice::kFused), results(of, wide, Choice::kReference)));
}

TEST_CASE("no token, views and inputs without gradients are taken") {
  const Case of{0, 64, 128, kGelu, 0, 0};
  CHECK(results(of, inputs_of(of), Choice::kFused)[0].numel() == 0);

  const Case some{40, 64, 128, kGelu, 0, 0};
  auto inputs = inputs_of(some);
  const auto expected = results(some, inputs, Choice::kFused);
  inputs[0] = inputs[0].t().contiguous().t();  // columns stand together
  inputs[3] = inputs[3].t().contiguous().t();
  CHECK(same_bits(results(some, inputs, Choice::kFused), expected));

  const kernels::FeedForward weights{inputs[1], inputs[2], inputs[3], inputs[4], inputs[5], inputs[6].requires_grad_()};
  const auto y = kernels::feed_forward(inputs[0], weights, Choice::kFused);
  CHECK(torch::autograd::grad({y}, {weights.b2}, {normal(y.sizes(), 1, 8)})[0].equal(expected[7]));
  NoGradGuard no_grad;
  CHECK(!kernels::feed_forward(inputs[0], weights, Choice::kFused).requires_grad());
}
