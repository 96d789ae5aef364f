// Decayed sums, fused and plain, against the recurrence in float64: values, gradients, every decay, odd lengths, states,
// queries and keys shared by all heads, strong decays, threads, and faults that must be noticed.
#include "ablate/decayed_sums.h"

#include <torch/csrc/autograd/autograd.h>

#include "core/kernels/choice.h"
#include "core/kernels/decayed_sums.h"
#include "tests/kernels/results.h"
#include "tests/support/skip.h"

using namespace ablate;
using namespace ablate::test;

namespace {

enum class Left { kAll, kOfHead, kOfToken, kOfChannel };

struct Sums {
  std::int64_t batch, heads, n, d, d_value;
  Left left;
  bool state = false, shared = false;
  double strongest = 0.5;
};

/// Draws q, k, v, log decays, S_0, and the factors of values and S_n in the loss.
std::vector<Tensor> inputs_of(const Sums& of) {
  const auto queries = of.shared ? 1 : of.heads, channels = of.left == Left::kOfChannel ? of.d : 1;
  const auto heads = [&](std::int64_t count, std::int64_t width, std::uint64_t seed) {
    return normal({of.batch, of.n, count, width}, 1, seed).transpose(1, 2);
  };
  auto decays = normal({of.left == Left::kOfHead ? 1 : of.batch, of.heads, of.left == Left::kOfHead ? 1 : of.n, channels}, 1, 4)
                    .sigmoid() *
                -of.strongest;
  if (of.left == Left::kOfHead) decays = decays.expand({-1, -1, of.n, -1});
  return {heads(queries, of.d, 1) * 0.3,
          heads(queries, of.d, 2) * 0.3,
          heads(of.heads, of.d_value, 3),
          decays,
          normal({of.batch, of.heads, of.d, of.d_value}, 1, 5),
          heads(of.heads, of.d_value, 6),
          normal({of.batch, of.heads, of.d, of.d_value}, 1, 7)};
}

/// Makes the last `padding` tokens of item 0 padding.
std::vector<Tensor> padded(std::vector<Tensor> inputs, std::int64_t padding) {
  if (padding == 0) return inputs;
  const auto n = inputs[0].size(2);
  for (const std::size_t i : {1, 2, 3}) {
    inputs[i] = inputs[i].expand({inputs[0].size(0), -1, -1, -1}).clone();
    inputs[i][0].narrow(1, n - padding, padding).zero_();
  }
  return inputs;
}

/// Returns values, S_n, and the gradients of all inputs that have one.
std::vector<Tensor> results(const Sums& of, std::vector<Tensor> inputs, bool fused) {
  std::vector<Tensor> wrt;
  for (std::size_t i = 0; i < 5; ++i) {
    inputs[i] = inputs[i].detach();
    if (i == 3 && of.left <= Left::kOfHead) continue;
    if (i == 4 && !of.state) continue;
    wrt.push_back(inputs[i].requires_grad_());
  }
  const auto log_decay = of.left == Left::kAll ? Tensor() : inputs[3];
  const auto start = of.state ? inputs[4] : Tensor();
  if (fused && inputs[0].scalar_type() == kFloat && !kernels::instructions().empty())
    REQUIRE(kernels::may_fuse_decayed_sums(inputs[0], inputs[1], inputs[2], log_decay, start) ==
            (of.left != Left::kAll || kernels::instructions() == "avx512"));
  const auto sums = decayed_sums(inputs[0], inputs[1], inputs[2], log_decay, start, fused);
  std::vector<Tensor> all{sums.values.detach(), sums.state.detach()};
  const auto gradients = of.state ? torch::autograd::grad({sums.values, sums.state}, wrt, {inputs[5], inputs[6]})
                                  : torch::autograd::grad({sums.values}, wrt, {inputs[5]});
  for (const auto& gradient : gradients) all.push_back(gradient);
  return all;
}

/// Computes S_i = diag(a_i) S_(i-1) + k_i v_i^T, o_i = q_i S_i, token by token.
std::vector<Tensor> plainly(const Sums& of, std::vector<Tensor> inputs) {
  inputs = in_double(std::move(inputs));
  std::vector<Tensor> wrt;
  for (std::size_t i = 0; i < 5; ++i)
    if ((i != 3 || of.left > Left::kOfHead) && (i != 4 || of.state)) wrt.push_back(inputs[i].requires_grad_());
  auto state = of.state ? inputs[4] : zeros({of.batch, of.heads, of.d, of.d_value}, kDouble);
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < of.n; ++i) {
    const auto at = [i](const Tensor& x) { return x.select(2, i); };
    if (of.left != Left::kAll) state = at(inputs[3]).exp().unsqueeze(-1) * state;
    state = state + at(inputs[1]).unsqueeze(-1) * at(inputs[2]).unsqueeze(-2);
    rows.push_back((at(inputs[0]).unsqueeze(-1) * state).sum(-2));
  }
  const auto values = stack(rows, 2);
  auto loss = (values * inputs[5]).sum();
  if (of.state) loss = loss + (state * inputs[6]).sum();
  std::vector<Tensor> all{values.detach(), state.detach()};
  for (const auto& gradient : torch::autograd::grad({loss}, wrt)) all.push_back(gradient);
  return all;
}

constexpr Sums kOdd[] = {
    {2, 3, 133, 16, 48, Left::kOfToken, true},
    {2, 3, 70, 32, 16, Left::kOfToken, true, true},
    {3, 2, 65, 16, 32, Left::kAll, true},
    {2, 2, 130, 16, 16, Left::kAll, false, true},
    {2, 3, 133, 32, 16, Left::kOfHead, true},
    {2, 1, 200, 16, 32, Left::kOfHead},
    {2, 3, 133, 32, 16, Left::kOfChannel, true},
    {1, 2, 79, 16, 48, Left::kOfChannel},
    {1, 1, 1, 16, 16, Left::kOfChannel, true},
    {1, 2, 1, 16, 16, Left::kOfToken, true},
    {2, 2, 64, 16, 16, Left::kOfChannel, true, false},
    {2, 2, 128, 16, 16, Left::kOfToken},
    // d or d_value is no multiple of 16, so fused forms add channels of zeros.
    {2, 3, 133, 24, 17, Left::kOfToken, true},
    {2, 2, 70, 5, 33, Left::kOfChannel, true},
    {1, 2, 65, 1, 1, Left::kOfToken, true},
    {2, 3, 70, 40, 9, Left::kOfHead},
    {1, 2, 65, 273, 17, Left::kAll, true},
    {2, 2, 50, 8, 16, Left::kAll, false, true},
    {2, 2, 50, 16, 7, Left::kOfToken, true, true},
};

}  // namespace

TEST_CASE("decayed sums, fused, equal the recurrence, with the gradients of decays and states") {
  for (const auto& of : kOdd)
    for (const std::int64_t padding : {0, 9}) {
      if (padding >= of.n || (padding > 0 && of.left == Left::kOfHead)) continue;  // padding needs a decay for each token
      INFO("n " << of.n << ", d " << of.d << ", left " << static_cast<int>(of.left) << ", padding " << padding);
      const auto inputs = padded(inputs_of(of), padding);
      const auto expected = plainly(of, inputs);
      CHECK(off(results(of, inputs, true), expected) < kNear);
      CHECK(off(results(of, inputs, false), expected) < kNear);
    }
}

TEST_CASE("decayed sums, fused, accept one token that is expanded to all tokens, and give its gradient") {
  const Sums of{2, 2, 133, 16, 32, Left::kOfToken, true};
  for (const std::size_t i : {0, 1, 2, 5}) {
    INFO(i);
    auto inputs = inputs_of(of);
    inputs[i] = inputs[i].narrow(2, 0, 1).expand({-1, -1, 133, -1});
    CHECK(off(results(of, inputs, true), plainly(of, inputs)) < kNear);
  }
}

TEST_CASE("decayed sums, fused, are exact for strong and for weak decays") {
  for (const auto left : {Left::kOfHead, Left::kOfToken, Left::kOfChannel})
    for (const double strongest : {1e-6, 30.0, 500.0}) {
      const Sums of{2, 2, 133, 16, 16, left, true, false, strongest};
      INFO("left " << static_cast<int>(left) << ", strongest " << strongest);
      CHECK(off(results(of, inputs_of(of), true), plainly(of, inputs_of(of))) < kNear);
    }
}

TEST_CASE("a wrong decay of one token, a wrong key and a wrong state are noticed") {
  for (const auto left : {Left::kOfToken, Left::kOfChannel}) {
    const Sums of{2, 2, 133, 16, 16, left, true};
    const auto expected = plainly(of, inputs_of(of));
    for (const std::size_t i : {1, 3, 4}) {
      auto inputs = inputs_of(of);
      inputs[i] = inputs[i].clone();
      auto one = inputs[i].select(0, 1).select(0, 1).select(0, i == 4 ? 3 : 100);
      one.mul_(1.1);
      INFO(i);
      CHECK(off(results(of, inputs, true), expected) > 10 * kNear);
    }
  }
  const Sums of{2, 2, 133, 16, 16, Left::kOfHead};
  auto inputs = inputs_of(of);
  inputs[3] = inputs[3].flip({1}).select(2, 0).unsqueeze(2).expand({-1, -1, of.n, -1});  // the decay of another head
  CHECK(off(results(of, inputs, true), plainly(of, inputs_of(of))) > 10 * kNear);
}

TEST_CASE("decayed sums, fused: threads and later tokens change no bit, and segments equal the whole") {
  for (const auto left : {Left::kAll, Left::kOfHead, Left::kOfToken, Left::kOfChannel}) {
    const Sums of{3, 2, 150, 16, 32, left, true};
    INFO(static_cast<int>(left));
    const auto inputs = inputs_of(of);
    const auto whole = results(of, inputs, true);
    {
      const Threads with(2);
      CHECK(same_bits(results(of, inputs, true), whole));
    }
    const auto log = left == Left::kAll ? Tensor() : inputs[3];
    const auto segment = [&](std::int64_t first, std::int64_t count, const Tensor& state) {
      const auto part = [&](const Tensor& x) { return x.defined() ? x.narrow(2, first, count) : x; };
      return decayed_sums(part(inputs[0]), part(inputs[1]), part(inputs[2]), part(log), state, true);
    };
    NoGradGuard no_grad;
    const auto first = segment(0, 77, inputs[4]), second = segment(77, 73, first.state);
    CHECK(off({cat({first.values, second.values}, 2), second.state}, {whole[0].to(kDouble), whole[1].to(kDouble)}) < kNear);
    auto later = inputs;
    for (std::size_t i = 0; i < 3; ++i) {
      later[i] = later[i].clone();
      later[i].narrow(2, 90, 60).mul_(1e6);
    }
    const auto early = decayed_sums(later[0], later[1], later[2], log, inputs[4], true).values.narrow(2, 0, 90);
    CHECK(early.equal(whole[0].narrow(2, 0, 90)));
  }
}

TEST_CASE("decayed sums that have no fused form run the reference") {
  const Sums of{1, 2, 33, 336, 16, Left::kOfToken};
  const auto in = inputs_of(of);
  CHECK_FALSE(kernels::may_fuse_decayed_sums(in[0], in[1], in[2], in[3], {}));
  CHECK(decayed_sums(in[0], in[1], in[2], in[3], {}, true).values.equal(decayed_sums(in[0], in[1], in[2], in[3], {}).values));
  const Sums other{2, 2, 33, 16, 16, Left::kOfToken};
  const auto wide = in_double(inputs_of(other));
  CHECK_FALSE(kernels::may_fuse_decayed_sums(wide[0], wide[1], wide[2], wide[3], {}));
}

TEST_CASE("fused forms exist only for float32 on a CPU") {
  const auto here = ones({2, 16});
  CHECK(kernels::may_fuse(kernels::Choice::kFused, {here, here}) == !kernels::instructions().empty());
  CHECK_FALSE(kernels::may_fuse(kernels::Choice::kReference, {here}));
  // The meta device stands for any other device, such as CUDA, whose memory a form must not read.
  CHECK_FALSE(kernels::may_fuse(kernels::Choice::kFused, {here, here.to(at::kMeta)}));
  CHECK_FALSE(kernels::may_fuse(kernels::Choice::kFused, {here, here.to(kDouble)}));
  CHECK_FALSE(kernels::may_fuse(kernels::Choice::kFused, {here, Tensor()}));
}

TEST_CASE("decayed sums, fused, throw if a second derivative is needed") {
  if (kernels::instructions().empty()) return skip("this processor lacks the instructions that the fused kernels need");
  const Sums of{1, 1, 20, 16, 16, Left::kOfToken};
  auto in = inputs_of(of);
  in[0].requires_grad_();
  const auto y = decayed_sums(in[0], in[1], in[2], in[3], {}, true).values.sum();
  CHECK_THROWS_AS(torch::autograd::grad({y}, {in[0]}, {}, true, true), std::runtime_error);
}
