// Norm and gate of heads' values, fused and plain, against their formula in float64: values and gradients, norms, gates,
// layouts, threads. Tests also check that faults are noticed.
#include "ablate/gated_norm.h"

#include <torch/csrc/autograd/autograd.h>

#include "core/kernels/choice.h"
#include "core/kernels/gated_norm.h"
#include "tests/kernels/results.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::test;

namespace {

struct Gated {
  std::int64_t batch, heads, n, channels;
  HeadNorm norm = HeadNorm::kRms;
  bool gate = true;
  bool heads_first = false;  ///< values are stored as [batch, heads, n, channels]; false: tokens before heads
  bool turned = false;       ///< channels of values come first in memory
};

enum : std::size_t { kValues, kGate, kOfLoss };

/// Draws values, gate, and the factors of y in the loss.
std::vector<Tensor> drawn(const Gated& of) {
  const auto by_tokens = [&](double deviation, std::uint64_t seed) {
    return normal({of.batch, of.n, of.heads, of.channels}, deviation, seed).transpose(1, 2);
  };
  auto values = by_tokens(2, 1) + 0.5;
  if (of.heads_first) values = values.contiguous();
  if (of.turned) values = values.transpose(1, 3).contiguous().transpose(1, 3);
  return {values, by_tokens(2, 2), by_tokens(1, 3)};
}

/// Returns y = made(inputs), and the gradients of values and gate.
template <class Made>
std::vector<Tensor> with_their_gradients(const Gated& of, std::vector<Tensor> inputs, const Made& made) {
  std::vector<Tensor> wrt;
  for (std::size_t i = 0; i < kOfLoss; ++i) {
    inputs[i] = inputs[i].detach();
    if (i != kGate || of.gate) wrt.push_back(inputs[i].requires_grad_());
  }
  const Tensor y = made(inputs);
  std::vector<Tensor> all{y.detach()};
  for (const auto& gradient : torch::autograd::grad({y}, wrt, {inputs[kOfLoss]})) all.push_back(gradient);
  return all;
}

Tensor gate_of(const Gated& of, const std::vector<Tensor>& in) { return of.gate ? in[kGate] : Tensor(); }

std::vector<Tensor> found(const Gated& of, const std::vector<Tensor>& inputs, bool fused) {
  return with_their_gradients(of, inputs, [&](const std::vector<Tensor>& in) {
    if (fused) REQUIRE(kernels::may_fuse_gated_norm(in[kValues], gate_of(of, in)) == !kernels::instructions().empty());
    return gated_norm(in[kValues], gate_of(of, in), of.norm, fused);
  });
}

enum class Fault { kNone, kMeanKept, kWholeToken, kSigmoid, kGateFirst, kUnbiased, kEpsilon };

/// Computes the formula in float64.
std::vector<Tensor> by_formula(const Gated& of, const std::vector<Tensor>& inputs, Fault fault = Fault::kNone) {
  return with_their_gradients(of, in_double(inputs), [&](const std::vector<Tensor>& in) {
    const auto share = in[kGate].sigmoid();
    const auto factor = !of.gate ? ones(share.sizes(), kDouble) : fault == Fault::kSigmoid ? share : share * in[kGate];
    const auto x = fault == Fault::kGateFirst ? in[kValues] * factor : in[kValues];
    if (of.norm == HeadNorm::kNone) return x * factor;
    const auto over = fault == Fault::kWholeToken ? std::vector<std::int64_t>{1, 3} : std::vector<std::int64_t>{3};
    const auto count = static_cast<double>(of.channels * (fault == Fault::kWholeToken ? of.heads : 1));
    const bool centred = of.norm == HeadNorm::kLayer && fault != Fault::kMeanKept;
    const auto off = centred ? x - x.sum(over, true) / count : x;
    const auto square = (off * off).sum(over, true) / (fault == Fault::kUnbiased ? count - 1 : count);
    const auto normed = off / (square + (fault == Fault::kEpsilon ? 1e-6 : 1e-5)).sqrt();
    return fault == Fault::kGateFirst ? normed : normed * factor;
  });
}

const std::vector<Gated> kGated = {
    {2, 2, 133, 32},
    {2, 2, 64, 64, HeadNorm::kLayer},
    {3, 1, 65, 16, HeadNorm::kNone},
    {1, 4, 7, 48, HeadNorm::kLayer, false},
    {2, 3, 1, 16, HeadNorm::kRms, false},
    {1, 1, 1, 16, HeadNorm::kLayer},
    {2, 2, 70, 32, HeadNorm::kLayer, true, true},
    {2, 2, 70, 32, HeadNorm::kRms, true, false, true},
    {1, 1, 300, 400, HeadNorm::kRms},
};

}  // namespace

TEST_CASE("norm and gate, fused and plain, equal their formula, with all gradients") {
  for (const auto& of : kGated) {
    INFO("case " << &of - kGated.data());
    const auto inputs = drawn(of);
    const auto expected = by_formula(of, inputs);
    CHECK(off(found(of, inputs, true), expected) < kNear);
    CHECK(off(found(of, inputs, false), expected) < kNear);
  }
}

TEST_CASE("norm and gate are accurate for small and large numbers") {
  for (const auto norm : {HeadNorm::kNone, HeadNorm::kLayer, HeadNorm::kRms})
    for (const double scale : {1e-6, 1e-3, 30.0, 1e4, 1e10}) {
      INFO(scale << " " << static_cast<int>(norm));
      const Gated of{2, 2, 40, 16, norm};
      auto inputs = drawn(of);
      inputs[kValues] = inputs[kValues] * scale;
      const auto expected = by_formula(of, inputs);
      CHECK(worst(found(of, inputs, true), expected) < kNear);
      if (scale < 100) continue;
      inputs = drawn(of), inputs[kGate] = inputs[kGate] * scale;
      CHECK(worst(found(of, inputs, true), by_formula(of, inputs)) < kNear);
    }
  // All channels are equal. Without the mean only rounding errors are left. The norm divides these by the root of 1e-5.
  const Gated of{1, 2, 3, 16, HeadNorm::kLayer};
  auto inputs = drawn(of);
  inputs[kValues] = zeros_like(inputs[kValues]) + 0.25;
  CHECK(off(found(of, inputs, true), by_formula(of, inputs)) < kNear);
}

TEST_CASE("a kept mean, a norm over all heads, another gate, order, divisor or epsilon, and a missing gate are noticed") {
  for (const auto norm : {HeadNorm::kLayer, HeadNorm::kRms}) {
    const Gated of{2, 2, 50, 16, norm};
    const auto inputs = drawn(of);
    const auto here = found(of, inputs, true);
    for (const auto fault : {Fault::kWholeToken, Fault::kSigmoid, Fault::kGateFirst, Fault::kUnbiased}) {
      INFO(static_cast<int>(fault));
      CHECK(off(here, by_formula(of, inputs, fault)) > 1000 * kNear);
    }
    CHECK((off(here, by_formula(of, inputs, Fault::kMeanKept)) > 1000 * kNear) == (norm == HeadNorm::kLayer));
    auto small = inputs;
    small[kValues] = small[kValues] * 1e-3;
    CHECK(off(found(of, small, true), by_formula(of, small, Fault::kEpsilon)) > 1000 * kNear);
    auto ungated = of;
    ungated.gate = false;
    CHECK(off({found(ungated, inputs, true)[0]}, {by_formula(of, inputs)[0]}) > 1000 * kNear);
  }
}

TEST_CASE("norm and gate, fused: threads change no bit, tokens are independent, and expanded tensors are read") {
  for (const auto norm : {HeadNorm::kNone, HeadNorm::kLayer, HeadNorm::kRms}) {
    const Gated of{3, 2, 51, 32, norm};
    const auto inputs = drawn(of);
    const auto whole = found(of, inputs, true);
    {
      const Threads with(2);
      CHECK(same_bits(found(of, inputs, true), whole));
    }
    {
      NoGradGuard no_grad;
      const auto part = gated_norm(inputs[kValues].narrow(2, 17, 9), inputs[kGate].narrow(2, 17, 9), norm, true);
      CHECK(part.equal(whole[0].narrow(2, 17, 9)));
    }
    auto repeated = inputs;
    repeated[kValues] = repeated[kValues].narrow(0, 0, 1).expand({3, -1, -1, -1});
    repeated[kGate] = repeated[kGate].narrow(1, 0, 1).expand({-1, 2, -1, -1});
    repeated[kOfLoss] = repeated[kOfLoss].narrow(3, 0, 1).expand({-1, -1, -1, 32});
    CHECK(off(found(of, repeated, true), by_formula(of, repeated)) < kNear);
  }
}

TEST_CASE("NaN and infinity spread in both forms of norm and gate alike") {
  const auto infinity = std::numeric_limits<float>::infinity();
  for (const auto norm : {HeadNorm::kNone, HeadNorm::kLayer, HeadNorm::kRms})
    for (const std::size_t i : {kValues, kGate})
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity}) {
        INFO(i << " " << bad << " " << static_cast<int>(norm));
        const Gated of{2, 2, 5, 16, norm};
        auto inputs = drawn(of);
        inputs[i] = inputs[i].clone();
        auto one = inputs[i].select(0, 1).select(0, 1).select(0, 3).select(0, 2);
        one.fill_(bad);
        const auto fused = found(of, inputs, true), plain = found(of, inputs, false);
        REQUIRE(fused.size() == plain.size());
        for (std::size_t j = 0; j < fused.size(); ++j) CHECK(fused[j].isfinite().equal(plain[j].isfinite()));
        CHECK_FALSE(fused[0].isfinite().all().item<bool>());
        if (std::isnan(bad)) CHECK(same_gaps(fused, plain));
      }
}

TEST_CASE("norms and gates without a fused form run the reference, or report an error") {
  const auto refused = [](const Tensor& values, const Tensor& gate) {
    CHECK_FALSE(kernels::may_fuse_gated_norm(values, gate));
    CHECK(gated_norm(values, gate, HeadNorm::kRms, true).equal(gated_norm(values, gate, HeadNorm::kRms)));
  };
  const Gated of{2, 2, 33, 16};
  const auto inputs = drawn(of);
  CHECK(kernels::may_fuse_gated_norm(inputs[kValues], inputs[kGate]) == !kernels::instructions().empty());
  const auto odd = drawn({2, 2, 33, 24});
  refused(odd[kValues], odd[kGate]);
  const auto wide = in_double(inputs);
  refused(wide[kValues], wide[kGate]);
  CHECK_FALSE(kernels::may_fuse_gated_norm(inputs[kValues], wide[kGate]));
  refused(inputs[kValues], inputs[kGate].narrow(1, 0, 1));  // a gate for all heads, which a form would read out of bounds
  refused(inputs[kValues].narrow(2, 0, 0), inputs[kGate].narrow(2, 0, 0));
  refused(inputs[kValues].flatten(0, 1), inputs[kGate].flatten(0, 1));
  CHECK_THROWS(gated_norm(inputs[kValues], inputs[kGate].narrow(2, 0, 7), HeadNorm::kRms, true));
  CHECK(gated_norm(inputs[kValues], {}, HeadNorm::kNone, true).is_same(inputs[kValues]));
}
