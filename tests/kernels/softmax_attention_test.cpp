// Softmax attention, fused and LibTorch's, against weighted means in float64: values and gradients, sizes, hidden keys,
// causality, layouts, threads. Tests also check that faults are noticed.
#include "ablate/softmax_attention.h"

#include <torch/csrc/autograd/autograd.h>

#include "core/kernels/choice.h"
#include "core/kernels/softmax_attention.h"
#include "tests/kernels/results.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::test;

namespace {

struct Read {
  std::int64_t batch, heads, n, m, d, d_value;
  bool causal = false;
  bool seen = false;         ///< hides a third of the keys of item 0, and the last key of other items
  bool bias = false;         ///< added to scores, different for each head; -infinity at every fifth key
  bool heads_first = false;  ///< stored as [batch, heads, n, d]; false: tokens before heads
  double size = 1;           ///< deviation of queries and keys
};

enum : std::size_t { kQueries, kKeys, kValues, kOfLoss };

/// Draws q, k, v, and the factors of the outputs in the loss.
std::vector<Tensor> drawn(const Read& of) {
  const auto heads = [&](std::int64_t tokens, std::int64_t width, double size, std::uint64_t seed) {
    const auto x = normal({of.batch, tokens, of.heads, width}, size, seed).transpose(1, 2);
    return of.heads_first ? x.contiguous() : x;
  };
  return {heads(of.n, of.d, of.size, 1), heads(of.m, of.d, of.size, 2), heads(of.m, of.d_value, 1, 3),
          heads(of.n, of.d_value, 1, 4)};
}

Tensor mask_of(const Read& of) {
  if (of.bias)
    return normal({1, of.heads, 1, of.m}, 1, 5)
        .masked_fill(arange(of.m, kLong).remainder(5) == 2, -std::numeric_limits<double>::infinity());
  if (!of.seen) return {};
  const auto key = arange(of.m, kLong);
  std::vector<Tensor> items;
  for (std::int64_t item = 0; item < of.batch; ++item) items.push_back(item == 0 ? key.remainder(3) != 1 : key < of.m - 1);
  return stack(items, 0).unsqueeze(1).unsqueeze(1);
}

/// Returns y = made(q, k, v), and the gradients of q, k and v.
template <class Made>
std::vector<Tensor> with_their_gradients(std::vector<Tensor> inputs, const Made& made) {
  std::vector<Tensor> wrt;
  for (std::size_t i = 0; i < kOfLoss; ++i) wrt.push_back(inputs[i] = inputs[i].detach().requires_grad_());
  const Tensor y = made(inputs[kQueries], inputs[kKeys], inputs[kValues]);
  std::vector<Tensor> all{y.detach()};
  for (const auto& gradient : torch::autograd::grad({y}, wrt, {inputs[kOfLoss]})) all.push_back(gradient);
  return all;
}

/// If `fused`, runs the machine's fused form (if it has one), even if LibTorch's kernel is faster.
std::vector<Tensor> found(const Read& of, const std::vector<Tensor>& inputs, bool fused = true) {
  return with_their_gradients(inputs, [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    const auto mask = mask_of(of);
    if (!fused || kernels::instructions().empty()) return softmax_attention(q, k, v, mask, of.causal, fused);
    REQUIRE(kernels::has_softmax_form(q, k, v, mask, of.causal));
    return kernels::fused_softmax_attention(q, k, v, mask, of.causal);
  });
}

enum class Fault { kNone, kNoScale, kNextKey, kAllKeys };

/// Computes outputs by the exponentials of all pairs, in float64.
std::vector<Tensor> by_weights(const Read& of, const std::vector<Tensor>& inputs, Fault fault = Fault::kNone) {
  return with_their_gradients(in_double(inputs), [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    auto scores = (q.unsqueeze(3) * k.unsqueeze(2)).sum(-1);
    if (fault != Fault::kNoScale) scores = scores / std::sqrt(static_cast<double>(of.d));
    auto visible = ones({of.n, of.m}, kBool);
    if (of.causal) visible = visible.tril(fault == Fault::kNextKey ? 1 : 0);
    if (of.bias && fault != Fault::kAllKeys) scores = scores + mask_of(of).to(kDouble);
    if (of.seen && fault != Fault::kAllKeys) visible = visible.logical_and(mask_of(of));
    scores = scores.masked_fill(visible.logical_not(), -std::numeric_limits<double>::infinity());
    const auto weights = (scores - scores.detach().amax(-1, true)).exp();
    return (weights.unsqueeze(-1) * v.unsqueeze(2)).sum(3) / weights.sum(-1, true);
  });
}

const std::vector<Read> kReads = {
    {2, 2, 64, 64, 16, 16},
    {1, 2, 133, 70, 32, 16},
    {2, 1, 100, 300, 16, 48, false, true},
    {2, 3, 40, 5, 32, 32, false, true, false, true},
    {2, 2, 133, 133, 32, 32, true},
    {1, 1, 330, 330, 16, 16, true, false, false, true},
    {1, 2, 33, 90, 16, 16, true},
    {1, 2, 90, 33, 16, 16, true},
    {1, 1, 65, 2, 16, 16},
    {2, 2, 100, 70, 16, 32, false, false, true},
    {1, 3, 64, 300, 32, 16, false, false, true, true},
    {2, 2, 70, 600, 64, 32, false, false, false, false, 8},
    {1, 1, 300, 300, 32, 32, true, false, false, false, 8},
};

}  // namespace

TEST_CASE("softmax attention, fused and plain, equals the weighted mean of values, with all gradients") {
  for (const auto& of : kReads) {
    INFO("read " << &of - kReads.data());
    const auto inputs = drawn(of);
    const auto expected = by_weights(of, inputs);
    const double near = of.size > 1 ? 10 * kNear : kNear;  // scores of hundreds, whose rounding shows in weights
    CHECK(off(found(of, inputs), expected) < near);
    CHECK(off(found(of, inputs, false), expected) < near);
  }
}

TEST_CASE("softmax attention without its scale, with a later or a hidden key, or with other inputs is noticed") {
  const Read causal{2, 2, 133, 133, 16, 16, true}, masked{2, 2, 133, 133, 16, 16, false, true},
      biased{2, 2, 133, 133, 16, 16, false, false, true};
  const auto inputs = drawn(causal);
  CHECK(off(found(causal, inputs), by_weights(causal, inputs, Fault::kNoScale)) > 1000 * kNear);
  CHECK(off(found(causal, inputs), by_weights(causal, inputs, Fault::kNextKey)) > 1000 * kNear);
  CHECK(off(found(masked, inputs), by_weights(masked, inputs, Fault::kAllKeys)) > 1000 * kNear);
  CHECK(off(found(biased, inputs), by_weights(biased, inputs, Fault::kAllKeys)) > 1000 * kNear);
  for (const auto& of : {causal, masked, biased})
    for (const std::size_t i : {kQueries, kKeys, kValues}) {
      INFO(i);
      auto other = inputs;
      other[i] = other[i].clone();
      auto one = other[i].select(0, 1).select(0, 1).select(0, 99);
      one.mul_(1.1);
      CHECK(off(found(of, other), found(of, inputs)) > 10 * kNear);
    }
}

TEST_CASE("softmax attention, fused: scores that are far apart or far from 0 stay accurate") {
  for (const bool causal : {false, true})
    for (const double size : {1e-3, 30.0, 1e3, 1e6}) {
      INFO(causal << " " << size);
      const Read of{1, 2, 90, 300, 16, 16, causal, false, false, false, size};
      auto inputs = drawn(of);
      const auto fused = found(of, inputs), expected = by_weights(of, inputs);
      // Scores of 1e6 and more have few or no digits after the point in float32, so weights cannot be compared.
      if (size < 1e3) CHECK(off({fused[0]}, {expected[0]}) < 100 * kNear);
      for (const auto& one : fused) CHECK(one.isfinite().all().item<bool>());
    }
  // Keys increase along the sequence, so every block has a larger score than the block before.
  const Read of{1, 1, 64, 600, 16, 16};
  auto inputs = drawn(of);
  inputs[kQueries] = ones({1, 1, 64, 16});
  inputs[kKeys] = inputs[kKeys] * 0.1 + (arange(600, kFloat) * 0.05).view({1, 1, 600, 1});
  CHECK(off(found(of, inputs), by_weights(of, inputs)) < 10 * kNear);
}

TEST_CASE("softmax attention, fused: threads and hidden keys change no bit, and expanded tensors are read") {
  const Read of{3, 2, 150, 150, 16, 32, true};
  const auto inputs = drawn(of);
  const auto whole = found(of, inputs);
  {
    const Threads with(2);
    CHECK(same_bits(found(of, inputs), whole));
  }
  auto later = inputs;
  for (const std::size_t i : {kQueries, kKeys, kValues}) {
    later[i] = later[i].clone();
    later[i].narrow(2, 90, 60).mul_(1e3);
  }
  CHECK(found(of, later)[0].narrow(2, 0, 90).equal(whole[0].narrow(2, 0, 90)));
  const Read masked{2, 2, 70, 100, 16, 16, false, true};
  auto clean = drawn(masked), dirty = clean;
  for (const std::size_t i : {kKeys, kValues}) {
    dirty[i] = dirty[i].clone();
    dirty[i].select(0, 0).select(1, 4).fill_(1e4);  // token 4 is hidden
  }
  const auto expected = found(masked, clean), here = found(masked, dirty);
  CHECK(here[0].equal(expected[0]));
  CHECK(here[1].equal(expected[1]));
  CHECK(here[2].select(0, 0).select(1, 4).abs().max().item<double>() == 0);
  auto repeated = inputs;
  for (const std::size_t i : {kKeys, kValues}) repeated[i] = repeated[i].narrow(1, 0, 1).expand({-1, 2, -1, -1});
  repeated[kQueries] = repeated[kQueries].narrow(0, 0, 1).expand({3, -1, -1, -1});
  repeated[kOfLoss] = repeated[kOfLoss].narrow(3, 0, 1).expand({-1, -1, -1, 32});
  CHECK(off(found(of, repeated), by_weights(of, repeated)) < kNear);
  for (const std::size_t i : {kQueries, kOfLoss}) {  // not keys or values: equal keys or values have gradients of 0
    auto one_token = inputs;
    one_token[i] = one_token[i].narrow(2, 0, 1).expand({-1, -1, 150, -1});
    CHECK(off(found(of, one_token), by_weights(of, one_token)) < kNear);
  }
}

TEST_CASE("a NaN spreads in both forms of softmax attention to the queries that see it") {
  const Read of{2, 2, 70, 70, 16, 16, true};
  for (const std::size_t i : {kQueries, kKeys, kValues}) {
    INFO(i);
    auto inputs = drawn(of);
    inputs[i] = inputs[i].clone();
    auto one = inputs[i].select(0, 1).select(0, 1).select(0, 40).select(0, 3);
    one.fill_(std::numeric_limits<float>::quiet_NaN());
    const auto fused = found(of, inputs), plain = found(of, inputs, false);
    CHECK(same_gaps({fused[0]}, {plain[0]}));
    CHECK(fused[0].isnan().any().item<bool>());
    // A later value is multiplied by a weight of 0, which gives NaN if the value is NaN. LibTorch's kernel does so too.
    if (i != kValues) CHECK_FALSE(fused[0].select(0, 1).select(0, 1).narrow(0, 0, 40).isnan().any().item<bool>());
    for (std::size_t j = 1; j < fused.size(); ++j) CHECK(fused[j].isnan().any().equal(plain[j].isnan().any()));
  }
}

TEST_CASE("a query that sees no key, or only scores of -infinity, reads 0 in both forms") {
  const Read of{1, 1, 64, 40, 16, 16};
  const auto inputs = drawn(of);
  const auto nothing = zeros({1, 1, 1, 40}, kBool);
  for (const bool fused : {false, true}) {
    if (fused && kernels::instructions().empty()) continue;
    const auto read = [&](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
      return fused ? kernels::fused_softmax_attention(q, k, v, mask, false) : softmax_attention(q, k, v, mask, false, false);
    };
    INFO(fused);
    CHECK(read(inputs[kQueries], inputs[kKeys], inputs[kValues], nothing).abs().max().item<double>() == 0);
    const auto large = ones({1, 1, 64, 16}) * 1e20;
    CHECK(read(large, large.narrow(2, 0, 40) * -1, inputs[kValues], {}).abs().max().item<double>() == 0);
    if (!fused) continue;
    const auto all =
        with_their_gradients(inputs, [&](const Tensor& q, const Tensor& k, const Tensor& v) { return read(q, k, v, nothing); });
    for (const auto& one : all) CHECK(one.abs().max().item<double>() == 0);
  }
}

TEST_CASE("softmax attention, fused: sums of many equal weights keep their digits") {
  const Read of{1, 1, 64, 5000, 16, 16};
  auto inputs = drawn(of);
  inputs[kQueries] = ones({1, 1, 64, 16});
  inputs[kKeys] = zeros({1, 1, 5000, 16});
  inputs[kKeys].select(2, 7).fill_(0.1);  // one key above all others
  CHECK(off(found(of, inputs), by_weights(of, inputs)) < kNear);
}

TEST_CASE("softmax attention uses its fused form if it is faster, and LibTorch's kernel otherwise") {
  const Read of{2, 2, 64, 64, 16, 16};
  const auto in = drawn(of);
  const auto &q = in[kQueries], &k = in[kKeys], &v = in[kValues];
  CHECK(kernels::has_softmax_form(q, k, v, {}, false) == !kernels::instructions().empty());
  if (kernels::tiles_outrun_products())
    CHECK(softmax_attention(q, k, v, {}, true, true).equal(kernels::fused_softmax_attention(q, k, v, {}, true)));
  const auto refused = [](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& mask) {
    CHECK_FALSE(kernels::has_softmax_form(a, b, c, mask, false));
    CHECK(softmax_attention(a, b, c, mask, false, true).equal(softmax_attention(a, b, c, mask, false, false)));
  };
  const auto odd = drawn({2, 2, 64, 64, 24, 24});
  refused(odd[kQueries], odd[kKeys], odd[kValues], {});
  refused(q.narrow(2, 0, 31), k, v, {});
  refused(q.to(kDouble), k.to(kDouble), v.to(kDouble), {});
  refused(q, k, v, ones({64, 64}, kBool).tril().view({1, 1, 64, 64}));
  refused(q, k, v, zeros({2, 1, 1, 64}).requires_grad_());
  CHECK_FALSE(kernels::has_softmax_form(q, k, v, ones({2, 1, 1, 64}, kBool), true));
  CHECK_FALSE(kernels::has_softmax_form(q, k.narrow(1, 0, 1), v, {}, false));
  CHECK_FALSE(kernels::has_softmax_form(q, k, v.narrow(2, 0, 60), {}, false));
}
