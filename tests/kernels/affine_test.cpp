// x W^T + b, fused and plain, against sums in float64: values, gradients, sizes, layouts and threads. Faults must be noticed.
#include "core/kernels/affine.h"

#include <torch/csrc/autograd/autograd.h>

#include "ablate/linear.h"
#include "core/kernels/choice.h"
#include "tests/kernels/results.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::test;

namespace {

struct Map {
  std::vector<std::int64_t> tokens;
  std::int64_t in, out;
  bool bias = true;
  bool turned = false;  ///< channels of x come first in memory
  bool of_x = true;     ///< x requires a gradient
};

enum : std::size_t { kX, kWeight, kBias, kOfLoss };

/// Draws x, weight, bias, and the factors of y in the loss.
std::vector<Tensor> drawn(const Map& of) {
  const auto sizes = [&](std::int64_t channels) {
    auto all = of.tokens;
    all.push_back(channels);
    return all;
  };
  auto x = normal(sizes(of.in), 1, 1);
  if (of.turned) x = x.transpose(0, -1).contiguous().transpose(0, -1);
  return {x, normal({of.out, of.in}, 0.3, 2), normal({of.out}, 1, 3), normal(sizes(of.out), 1, 4)};
}

/// Returns y = made(x, weight, bias), and the gradients of all inputs that have one.
template <class Made>
std::vector<Tensor> with_their_gradients(const Map& of, std::vector<Tensor> inputs, const Made& made) {
  std::vector<Tensor> wrt;
  for (std::size_t i = 0; i < kOfLoss; ++i) {
    inputs[i] = inputs[i].detach();
    if ((i != kBias || of.bias) && (i != kX || of.of_x)) wrt.push_back(inputs[i].requires_grad_());
  }
  const Tensor y = made(inputs[kX], inputs[kWeight], of.bias ? inputs[kBias] : Tensor());
  std::vector<Tensor> all{y.detach()};
  for (const auto& gradient : torch::autograd::grad({y}, wrt, {inputs[kOfLoss]})) all.push_back(gradient);
  return all;
}

/// If `fused`, runs the machine's fused form (if it has one), even if the reference is faster.
std::vector<Tensor> found(const Map& of, const std::vector<Tensor>& inputs, bool fused = true) {
  return with_their_gradients(of, inputs, [&](const Tensor& x, const Tensor& weight, const Tensor& bias) {
    if (!fused || kernels::instructions().empty()) return affine(x, weight, bias, fused);
    return kernels::fused_affine(x, weight, bias);
  });
}

/// Computes y by sums of products in float64.
std::vector<Tensor> by_sums(const Map& of, const std::vector<Tensor>& inputs) {
  return with_their_gradients(of, in_double(inputs), [](const Tensor& x, const Tensor& weight, const Tensor& bias) {
    const auto y = (x.unsqueeze(-2) * weight).sum(-1);
    return bias.defined() ? y + bias : y;
  });
}

const std::vector<Map> kMaps = {
    {{2, 100}, 64, 32},
    {{64}, 16, 16},
    {{3, 64}, 16, 96, false},
    {{5, 13, 3}, 48, 16},
    {{2, 100}, 32, 64, true, true},
    {{2, 65}, 32, 48, true, false, false},
    {{1, 130}, 256, 272, false},
};

}  // namespace

TEST_CASE("x W^T + b, fused and plain, equals its sums, with all gradients") {
  for (const auto& of : kMaps) {
    INFO("map " << &of - kMaps.data());
    const auto inputs = drawn(of);
    const auto expected = by_sums(of, inputs);
    CHECK(off(found(of, inputs), expected) < kNear);
    CHECK(off(found(of, inputs, false), expected) < kNear);
  }
}

TEST_CASE("another weight, bias or token, or a transposed weight, is noticed") {
  const Map of{{2, 100}, 32, 32};
  const auto inputs = drawn(of);
  const auto here = found(of, inputs);
  for (const std::size_t i : {kX, kWeight, kBias}) {
    INFO(i);
    auto other = inputs;
    other[i] = other[i].clone();
    other[i].select(0, 1).add_(0.3);
    CHECK(off(here, by_sums(of, other)) > 1000 * kNear);
  }
  auto turned = inputs;
  turned[kWeight] = turned[kWeight].t().contiguous();
  CHECK(off(here, by_sums(of, turned)) > 1000 * kNear);
}

TEST_CASE("x W^T + b, fused: threads change no bit of a token, and tokens are independent") {
  const Map of{{3, 117}, 32, 48};
  const auto inputs = drawn(of);
  const auto whole = found(of, inputs), expected = by_sums(of, inputs);
  {
    const Threads with(2);
    const auto shared = found(of, inputs);
    CHECK(shared[0].equal(whole[0]));
    CHECK(shared[1].equal(whole[1]));
    CHECK(off(shared, expected) < kNear);
    CHECK(same_bits(found(of, inputs), shared));
  }
  auto other = inputs;
  other[kX] = other[kX].clone();
  other[kX].select(0, 1).mul_(1e6);
  CHECK(found(of, other)[0].select(0, 0).equal(whole[0].select(0, 0)));
  CHECK(found(of, other)[0].select(0, 2).equal(whole[0].select(0, 2)));
}

TEST_CASE("NaN and infinity spread in both forms of x W^T + b alike") {
  for (const std::size_t i : {kX, kWeight, kBias})
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      INFO(i << " " << bad);
      const Map of{{2, 50}, 16, 32};
      auto inputs = drawn(of);
      inputs[i] = inputs[i].clone();
      inputs[i].view(-1).narrow(0, 21, 1).fill_(bad);
      const auto fused = found(of, inputs), plain = found(of, inputs, false);
      CHECK(same_gaps(fused, plain));
      CHECK_FALSE(fused[0].isfinite().all().item<bool>());
    }
}

TEST_CASE("x W^T + b uses its fused form if it is faster, otherwise the reference, or reports an error") {
  const auto inputs = drawn({{2, 100}, 32, 48});
  const auto &x = inputs[kX], &weight = inputs[kWeight], &bias = inputs[kBias];
  CHECK(kernels::may_fuse_affine(x, weight, bias) == kernels::tiles_outrun_products());
  CHECK(kernels::may_fuse_affine(x, weight, {}) == kernels::tiles_outrun_products());
  if (kernels::tiles_outrun_products()) {
    CHECK(kernels::instructions() == "avx512");
    CHECK(affine(x, weight, bias, true).equal(kernels::fused_affine(x, weight, bias)));
  }
  const auto refused = [](const Tensor& to, const Tensor& by, const Tensor& plus) {
    CHECK_FALSE(kernels::may_fuse_affine(to, by, plus));
    CHECK(affine(to, by, plus, true).equal(linear(to, by, plus)));
  };
  refused(x.narrow(2, 0, 24), weight.narrow(1, 0, 24), bias);
  refused(x, weight.narrow(0, 0, 40), bias.narrow(0, 0, 40));
  refused(x.narrow(1, 0, 31), weight, bias);  // 62 tokens have no fused form
  refused(x.narrow(1, 0, 0), weight, bias);
  refused(x.to(kDouble), weight.to(kDouble), bias.to(kDouble));
  refused(normal({64, 1024}, 1, 5), normal({512, 1024}, 1, 6), {});  // a weight too large for the cache
  CHECK_FALSE(kernels::may_fuse_affine(x, weight, bias.narrow(0, 0, 16)));
  CHECK_THROWS(affine(x, weight, bias.narrow(0, 0, 16), true));
  CHECK_THROWS(affine(x.narrow(2, 0, 16), weight, bias, true));
}
