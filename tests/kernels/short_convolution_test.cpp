// Short convolution, fused and plain, against sums token by token in float64: values and gradients, lengths, biases, tokens
// before x, layouts, threads. Tests also check that faults are noticed.
#include "ablate/short_convolution.h"

#include <torch/csrc/autograd/autograd.h>

#include "core/kernels/choice.h"
#include "core/kernels/short_convolution.h"
#include "tests/kernels/results.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::test;

namespace {

struct Filter {
  std::int64_t batch, n, channels, tokens;
  bool bias = false, before = false;
  bool part = false;    ///< x is a slice of the channels of a wider tensor
  bool turned = false;  ///< channels of x come first in memory
};

enum : std::size_t { kX, kWeights, kBias, kBefore, kOfLoss };

/// Draws x, filter, bias, the tokens before x, and the factors of y in the loss.
std::vector<Tensor> drawn(const Filter& of) {
  auto x = normal({of.batch, of.n, of.part ? 3 * of.channels : of.channels}, 2, 1);
  if (of.part) x = x.narrow(2, of.channels, of.channels);
  if (of.turned) x = x.transpose(1, 2).contiguous().transpose(1, 2);
  return {x, normal({of.channels, of.tokens}, 1, 2), normal({of.channels}, 1, 3),
          normal({of.batch, of.tokens - 1, of.channels}, 2, 4), normal({of.batch, of.n, of.channels}, 1, 5)};
}

ShortConvolution convolution_of(const Filter& of, const std::vector<Tensor>& in) {
  return {.x = in[kX],
          .filter = in[kWeights],
          .bias = of.bias ? in[kBias] : Tensor(),
          .before = of.before ? in[kBefore] : Tensor()};
}

/// Returns y = made(inputs), and the gradients of all inputs that have one.
template <class Made>
std::vector<Tensor> with_their_gradients(const Filter& of, std::vector<Tensor> inputs, const Made& made) {
  std::vector<Tensor> wrt;
  for (std::size_t i = 0; i < kOfLoss; ++i) {
    inputs[i] = inputs[i].detach();
    if ((i != kBias || of.bias) && (i != kBefore || (of.before && of.tokens > 1))) wrt.push_back(inputs[i].requires_grad_());
  }
  const Tensor y = made(inputs);
  std::vector<Tensor> all{y.detach()};
  for (const auto& gradient : torch::autograd::grad({y}, wrt, {inputs[kOfLoss]})) all.push_back(gradient);
  return all;
}

std::vector<Tensor> found(const Filter& of, const std::vector<Tensor>& inputs, bool fused) {
  return with_their_gradients(of, inputs, [&](const std::vector<Tensor>& in) {
    const auto convolution = convolution_of(of, in);
    if (fused) REQUIRE(kernels::may_fuse_short_convolution(convolution) == !kernels::instructions().empty());
    return short_convolution(convolution, fused);
  });
}

enum class Fault { kNone, kReversed, kLate, kNotActive };

/// Computes y_i token by token, in float64.
std::vector<Tensor> by_tokens(const Filter& of, const std::vector<Tensor>& inputs, Fault fault = Fault::kNone) {
  return with_their_gradients(of, in_double(inputs), [&](const std::vector<Tensor>& in) {
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < of.n; ++i) {
      auto sum = zeros({of.batch, of.channels}, kDouble);
      for (std::int64_t back = 0; back < of.tokens; ++back) {  // from the token itself back to the earliest
        const auto at = i - back - (fault == Fault::kLate ? 1 : 0);
        const auto weight = in[kWeights].select(1, fault == Fault::kReversed ? back : of.tokens - 1 - back);
        if (at >= 0)
          sum = sum + in[kX].select(1, at) * weight;
        else if (of.before && at + of.tokens > 0)
          sum = sum + in[kBefore].select(1, at + of.tokens - 1) * weight;
      }
      if (of.bias) sum = sum + in[kBias];
      rows.push_back(fault == Fault::kNotActive ? sum : sum * sum.sigmoid());
    }
    return stack(rows, 1);
  });
}

const std::vector<Filter> kFilters = {
    {2, 133, 48, 4},
    {3, 64, 16, 4, true, true},
    {2, 65, 32, 1, true},
    {2, 3, 16, 4, false, true},
    {1, 1, 16, 4, true, true},
    {2, 1, 32, 1, true, true},
    {2, 70, 16, 16, true, true},
    {1, 300, 96, 2, false, true},
    {2, 100, 32, 3, true, false, true},
    {2, 100, 32, 5, false, true, false, true},
};

}  // namespace

TEST_CASE("the short convolution, fused and plain, equals its sum token by token, with all gradients") {
  for (const auto& of : kFilters) {
    INFO("filter " << &of - kFilters.data() << ", n " << of.n << ", tokens " << of.tokens);
    const auto inputs = drawn(of);
    const auto expected = by_tokens(of, inputs);
    CHECK(off(found(of, inputs, true), expected) < kNear);
    CHECK(off(found(of, inputs, false), expected) < kNear);
  }
}

TEST_CASE("the short convolution is accurate for large and small sums") {
  const Filter of{2, 40, 16, 4, true, true};
  for (const double scale : {1e-6, 30.0, 1e4}) {
    INFO(scale);
    auto inputs = drawn(of);
    for (const auto i : {kX, kBefore, kBias}) inputs[i] = inputs[i] * scale;
    const auto expected = by_tokens(of, inputs);
    CHECK(worst(found(of, inputs, true), expected) < kNear);
  }
}

TEST_CASE("a wrong filter, a late token, and a missing bias, start or SiLU are noticed") {
  const Filter of{2, 50, 16, 4, true, true};
  const auto inputs = drawn(of);
  const auto here = found(of, inputs, true);
  for (const auto fault : {Fault::kReversed, Fault::kLate, Fault::kNotActive}) {
    INFO(static_cast<int>(fault));
    CHECK(off(here, by_tokens(of, inputs, fault)) > 1000 * kNear);
  }
  for (const std::size_t i : {kBias, kBefore}) {
    auto other = inputs;
    other[i] = zeros_like(other[i]);
    INFO(i);
    CHECK(off(here, by_tokens(of, other)) > 1000 * kNear);
  }
  for (const std::size_t i : {kX, kWeights, kBias, kBefore}) {
    auto other = inputs;
    other[i] = other[i].clone();
    auto one = other[i].select(0, 1);
    one.mul_(1.1);
    INFO(i);
    CHECK(off(found(of, other, true), here) > 10 * kNear);
  }
}

TEST_CASE("the short convolution, fused: threads and later tokens change no bit, and segments equal the whole") {
  const Filter of{3, 150, 32, 4, true, true};
  const auto inputs = drawn(of);
  const auto whole = found(of, inputs, true);
  {
    const Threads with(2);
    CHECK(same_bits(found(of, inputs, true), whole));
  }
  NoGradGuard no_grad;
  auto convolution = convolution_of(of, inputs);
  convolution.x = inputs[kX].narrow(1, 0, 77);
  const auto first = short_convolution(convolution, true);
  convolution.x = inputs[kX].narrow(1, 77, 73), convolution.before = inputs[kX].narrow(1, 74, 3);
  CHECK(cat({first, short_convolution(convolution, true)}, 1).equal(whole[0]));
  auto later = inputs;
  later[kX] = later[kX].clone();
  later[kX].narrow(1, 90, 60).mul_(1e6);
  CHECK(short_convolution(convolution_of(of, later), true).narrow(1, 0, 90).equal(whole[0].narrow(1, 0, 90)));
}

TEST_CASE("a NaN spreads in both forms of the short convolution alike") {
  const Filter of{2, 40, 16, 4, true, true};
  for (const std::size_t i : {kX, kWeights, kBias, kBefore}) {
    INFO(i);
    auto inputs = drawn(of);
    inputs[i] = inputs[i].clone();
    auto one = inputs[i].dim() == 3 ? inputs[i].select(0, 1).select(0, 1).select(0, 3) : inputs[i].select(0, 3);
    one.fill_(std::numeric_limits<float>::quiet_NaN());
    const auto fused = found(of, inputs, true), plain = found(of, inputs, false);
    CHECK(fused[0].isnan().any().item<bool>());
    CHECK(same_gaps(fused, plain));
  }
}

TEST_CASE("short convolutions that have no fused form run the reference") {
  const auto refused = [](const ShortConvolution& convolution) {
    CHECK_FALSE(kernels::may_fuse_short_convolution(convolution));
    CHECK(short_convolution(convolution, true).equal(short_convolution(convolution)));
  };
  const Filter odd{2, 33, 24, 4}, longest{2, 33, 16, 17}, of{2, 33, 16, 4, true, true};
  const auto inputs = drawn(of);
  const auto made = convolution_of(of, inputs);
  CHECK(kernels::may_fuse_short_convolution(made) == !kernels::instructions().empty());
  refused(convolution_of(odd, drawn(odd)));
  refused(convolution_of(longest, drawn(longest)));
  refused(convolution_of(of, in_double(inputs)));
  for (auto part : {&ShortConvolution::x, &ShortConvolution::filter, &ShortConvolution::bias, &ShortConvolution::before}) {
    auto of_two_types = made;
    of_two_types.*part = (of_two_types.*part).to(kDouble);
    CHECK_FALSE(kernels::may_fuse_short_convolution(of_two_types));
  }
  // Plain operators repeat a single channel for all channels; a form would read it out of bounds.
  auto one_channel = made;
  one_channel.filter = made.filter.narrow(0, 0, 1);
  refused(one_channel);
  auto one_bias = made;
  one_bias.bias = made.bias.narrow(0, 0, 1);
  refused(one_bias);
  for (const auto& before : {made.before.narrow(1, 0, 2), made.before.narrow(0, 0, 1)}) {
    auto wrong = made;
    wrong.before = before;
    CHECK_FALSE(kernels::may_fuse_short_convolution(wrong));
    CHECK_THROWS(short_convolution(wrong, true));
  }
  auto no_tokens = made;
  no_tokens.x = made.x.narrow(1, 0, 0);
  refused(no_tokens);
  auto no_items = made;
  no_items.x = made.x.narrow(0, 0, 0), no_items.before = made.before.narrow(0, 0, 0);
  refused(no_items);
}

TEST_CASE("the short convolution reads expanded tensors, and their gradients too") {
  const Filter of{2, 50, 16, 4, true, true};
  auto inputs = drawn(of);
  inputs[kX] = inputs[kX].narrow(0, 0, 1).expand({2, -1, -1});
  inputs[kBefore] = inputs[kBefore].narrow(2, 0, 1).expand({-1, -1, 16});
  inputs[kBias] = inputs[kBias].narrow(0, 0, 1).expand({16});
  inputs[kOfLoss] = inputs[kOfLoss].narrow(1, 0, 1).narrow(2, 0, 1).expand({-1, 50, 16});
  const auto expected = by_tokens(of, inputs);
  CHECK(off(found(of, inputs, true), expected) < kNear);
}
