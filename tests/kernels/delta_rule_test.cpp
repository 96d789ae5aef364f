// Delta rule, fused and plain, against the recurrence's values and gradients in float64: decays, odd lengths, padding, states,
// strong strengths and decays, threads. Tests also check that faults are noticed.
#include "ablate/delta_rule.h"

#include <torch/csrc/autograd/autograd.h>

#include "core/kernels/choice.h"
#include "core/kernels/delta_rule.h"
#include "tests/kernels/results.h"
#include "tests/support/skip.h"

using namespace ablate;
using namespace ablate::test;

namespace {

enum class Loss { kAll, kOfValues, kOfState };

struct Rule {
  std::int64_t batch, heads, n, d, d_value;
  bool decays = false, state = false, one_decay = false;  ///< one_decay: the same for all sequences
  double strongest = 0.5, most = 1;                       ///< largest decay, and largest strength
  Loss loss = Loss::kAll;                                 ///< results that the loss contains
  bool learned_decay = true;                              ///< the decay has a gradient
  bool channels_first = false;                            ///< layout of q, k and v
};

enum : std::size_t { kQ, kK, kV, kStrength, kLog, kS, kOfValues, kOfState };

/// Draws q, k, v, strengths, log decays, S_0, and the factors of values and S_n in the loss.
std::vector<Tensor> drawn(const Rule& of) {
  const auto heads = [&](std::int64_t width, std::uint64_t seed) {
    return normal({of.batch, of.n, of.heads, width}, 1, seed).transpose(1, 2);
  };
  const auto unit = [](const Tensor& x) { return x / x.square().sum(-1, true).sqrt(); };
  const auto laid = [&](const Tensor& x) { return of.channels_first ? x.transpose(2, 3).contiguous().transpose(2, 3) : x; };
  return {laid(unit(heads(of.d, 1))),
          laid(unit(heads(of.d, 2))),
          laid(heads(of.d_value, 3)),
          heads(1, 8).sigmoid() * of.most,
          normal({of.one_decay ? 1 : of.batch, of.heads, of.n, 1}, 1, 4).sigmoid() * -of.strongest,
          normal({of.batch, of.heads, of.d, of.d_value}, 1, 5),
          heads(of.d_value, 6),
          normal({of.batch, of.heads, of.d, of.d_value}, 1, 7)};
}

/// Makes the last `padding` tokens of item 0 padding.
std::vector<Tensor> without_last(std::vector<Tensor> inputs, std::int64_t padding) {
  if (padding == 0) return inputs;
  for (const std::size_t i : {kK, kV, kLog}) {
    inputs[i] = inputs[i].expand({inputs[kQ].size(0), -1, -1, -1}).clone();
    inputs[i][0].narrow(1, inputs[kQ].size(2) - padding, padding).zero_();
  }
  return inputs;
}

DeltaRule rule_of(const Rule& of, const std::vector<Tensor>& in) {
  return {.q = in[kQ],
          .k = in[kK],
          .v = in[kV],
          .erase = in[kStrength],
          .write = in[kStrength],
          .log_decay = of.decays ? in[kLog] : Tensor(),
          .state = of.state ? in[kS] : Tensor()};
}

/// Returns values and S_n of sums(inputs), and the gradients of all inputs that have one.
template <class Sums>
std::vector<Tensor> with_their_gradients(const Rule& of, std::vector<Tensor> inputs, const Sums& sums) {
  std::vector<Tensor> wrt;
  for (std::size_t i = 0; i < kOfValues; ++i) {
    inputs[i] = inputs[i].detach();
    if ((i != kLog || (of.decays && of.learned_decay)) && (i != kS || of.state)) wrt.push_back(inputs[i].requires_grad_());
  }
  const DecayedSums made = sums(inputs);
  std::vector<Tensor> all{made.values.detach(), made.state.detach()}, of_loss, by;
  if (of.loss != Loss::kOfState) of_loss.push_back(made.values), by.push_back(inputs[kOfValues]);
  if (of.loss != Loss::kOfValues) of_loss.push_back(made.state), by.push_back(inputs[kOfState]);
  auto gradients = torch::autograd::grad(of_loss, wrt, by, std::nullopt, false, true);
  for (std::size_t i = 0; i < wrt.size(); ++i)  // the state after all tokens does not depend on queries
    all.push_back(gradients[i].defined() ? gradients[i] : zeros_like(wrt[i]));
  return all;
}

std::vector<Tensor> by_chunks(const Rule& of, const std::vector<Tensor>& inputs, bool fused) {
  return with_their_gradients(of, inputs, [&](const std::vector<Tensor>& in) {
    const auto rule = rule_of(of, in);
    if (fused) REQUIRE(kernels::may_fuse_delta_rule(rule) == (of.n > 16 && !kernels::instructions().empty()));
    return delta_rule(rule, fused);
  });
}

enum class Fault { kNone, kAddsAlone, kDecaysLate, kReadsBefore, kErasesAll };

/// Computes S_i = (I - k_i (b_i k_i)^T) a_i S_(i-1) + k_i (b_i v_i)^T, o_i = q_i S_i, token by token, in float64.
std::vector<Tensor> by_tokens(const Rule& of, const std::vector<Tensor>& inputs, Fault fault = Fault::kNone) {
  return with_their_gradients(of, in_double(inputs), [&](const std::vector<Tensor>& in) -> DecayedSums {
    auto state = of.state ? in[kS] : zeros({of.batch, of.heads, of.d, of.d_value}, kDouble);
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < of.n; ++i) {
      const auto at = [&](std::size_t which) { return in[which].select(2, i); };
      const auto decay = [&] { return of.decays ? state * at(kLog).exp().unsqueeze(-1) : state; };
      const auto key = at(kK).unsqueeze(-1), strength = at(kStrength).unsqueeze(-1), before = state;
      if (fault != Fault::kDecaysLate) state = decay();
      const auto held = (key * state).sum(-2, true);
      auto moved = strength * at(kV).unsqueeze(-2);
      if (fault != Fault::kAddsAlone) moved = moved - (fault == Fault::kErasesAll ? held : strength * held);
      state = state + key * moved;
      if (fault == Fault::kDecaysLate) state = decay();
      rows.push_back((at(kQ).unsqueeze(-1) * (fault == Fault::kReadsBefore ? before : state)).sum(-2));
    }
    return {stack(rows, 2), state};
  });
}

constexpr Rule kRules[] = {
    {2, 3, 133, 32, 16, false, true},
    {2, 2, 64, 16, 48, true, true},
    {3, 2, 65, 16, 32, true},
    {2, 2, 130, 16, 16},
    {2, 1, 200, 32, 32, true, true, true},
    {1, 2, 79, 16, 48, true, true, false, 0.5, 2},
    {1, 1, 1, 16, 16, true, true},
    {1, 2, 1, 16, 16},
    {2, 2, 17, 16, 16, false, true, false, 0.5, 2},
    {1, 1, 128, 64, 32, true},
    {.batch = 1, .heads = 1, .n = 65, .d = 256, .d_value = 16, .decays = true, .state = true},
    {.batch = 1, .heads = 1, .n = 33, .d = 16, .d_value = 256},
    {.batch = 2, .heads = 2, .n = 16, .d = 16, .d_value = 16, .decays = true},
    {.batch = 2, .heads = 2, .n = 100, .d = 32, .d_value = 16, .decays = true, .state = true, .loss = Loss::kOfState},
    {.batch = 2, .heads = 2, .n = 70, .d = 16, .d_value = 16, .loss = Loss::kOfState},
    {.batch = 2, .heads = 2, .n = 100, .d = 16, .d_value = 32, .decays = true, .state = true, .loss = Loss::kOfValues},
    {.batch = 2, .heads = 2, .n = 100, .d = 16, .d_value = 32, .decays = true, .learned_decay = false},
    {.batch = 2, .heads = 3, .n = 90, .d = 32, .d_value = 16, .decays = true, .state = true, .channels_first = true},
};

}  // namespace

TEST_CASE("the delta rule, fused, equals the recurrence, with the gradients of strengths, decays and states") {
  for (const auto& of : kRules)
    for (const std::int64_t padding : {0, 9}) {
      if (padding >= of.n) continue;
      INFO("rule " << &of - kRules << ", n " << of.n << ", padding " << padding);
      const auto inputs = without_last(drawn(of), padding);
      const auto expected = by_tokens(of, inputs);
      CHECK(off(by_chunks(of, inputs, true), expected) < kNear);
      CHECK(off(by_chunks(of, inputs, false), expected) < kNear);
    }
}

TEST_CASE("the delta rule, fused, is exact for strong and for weak decays") {
  for (const double strongest : {1e-6, 30.0, 500.0}) {
    const Rule of{
        .batch = 2, .heads = 2, .n = 133, .d = 16, .d_value = 16, .decays = true, .state = true, .strongest = strongest};
    INFO("strongest " << strongest);
    CHECK(off(by_chunks(of, drawn(of), true), by_tokens(of, drawn(of))) < kNear);
  }
}

TEST_CASE("strengths of 0 write nothing but have gradients, and strengths of 2 reflect the state") {
  const Rule of{.batch = 1, .heads = 2, .n = 100, .d = 16, .d_value = 16, .state = true};
  auto inputs = drawn(of);
  inputs[kStrength] = inputs[kStrength].clone();
  inputs[kStrength].narrow(2, 20, 60).zero_();
  inputs[kStrength].narrow(2, 80, 15).fill_(2);
  const auto expected = by_tokens(of, inputs);
  REQUIRE(expected[5].narrow(2, 20, 60).abs().min().item<double>() > 0);
  CHECK(off(by_chunks(of, inputs, true), expected) < kNear);
}

TEST_CASE("wrong rules, and a wrong strength, decay, key or state of one token, are noticed") {
  const Rule of{2, 2, 133, 16, 16, true, true};
  const auto inputs = drawn(of);
  const auto found = by_chunks(of, inputs, true);
  for (const auto fault : {Fault::kAddsAlone, Fault::kDecaysLate, Fault::kReadsBefore, Fault::kErasesAll}) {
    INFO(static_cast<int>(fault));
    CHECK(off(found, by_tokens(of, inputs, fault)) > 1000 * kNear);
  }
  const auto expected = by_tokens(of, inputs);
  for (const std::size_t i : {kK, kStrength, kLog, kS}) {
    auto other = inputs;
    other[i] = other[i].clone();
    auto one = other[i].select(0, 1).select(0, 1).select(0, i == kS ? 3 : 100);
    one.mul_(1.1);
    INFO(i);
    CHECK(off(by_chunks(of, other, true), expected) > 10 * kNear);
  }
}

TEST_CASE("the delta rule, fused: threads and later tokens change no bit, and segments equal the whole") {
  for (const bool decays : {false, true}) {
    const Rule of{3, 2, 150, 16, 32, decays, true};
    INFO(decays);
    const auto inputs = drawn(of);
    const auto whole = by_chunks(of, inputs, true);
    {
      const Threads with(2);
      CHECK(same_bits(by_chunks(of, inputs, true), whole));
    }
    const auto segment = [&](std::int64_t first, std::int64_t count, const Tensor& state) {
      auto part = inputs;
      for (const auto i : {kQ, kK, kV, kStrength, kLog}) part[i] = part[i].narrow(2, first, count);
      part[kS] = state;
      return delta_rule(rule_of(of, part), true);
    };
    NoGradGuard no_grad;
    const auto first = segment(0, 77, inputs[kS]), second = segment(77, 73, first.state);
    CHECK(off({cat({first.values, second.values}, 2), second.state}, {whole[0].to(kDouble), whole[1].to(kDouble)}) < kNear);
    auto later = inputs;
    for (const auto i : {kQ, kK, kV}) {
      later[i] = later[i].clone();
      later[i].narrow(2, 90, 60).mul_(i == kK ? -0.5 : 1e6);  // longer keys would exceed float32
    }
    CHECK(delta_rule(rule_of(of, later), true).values.narrow(2, 0, 90).equal(whole[0].narrow(2, 0, 90)));
  }
}

TEST_CASE("a NaN spreads in both forms of the delta rule alike, and not to earlier chunks") {
  for (const std::size_t i : {kQ, kK, kV, kStrength}) {
    const Rule of{.batch = 2, .heads = 2, .n = 200, .d = 16, .d_value = 16, .decays = true};
    auto inputs = drawn(of);
    inputs[i] = inputs[i].clone();
    inputs[i][1][1][100][0] = std::numeric_limits<float>::quiet_NaN();
    INFO(i);
    const auto fused = by_chunks(of, inputs, true), plain = by_chunks(of, inputs, false);
    CHECK(same_gaps({fused[0], fused[1]}, {plain[0], plain[1]}));
    CHECK(fused[0][1][1][100].isnan().any().item<bool>());
    CHECK_FALSE(fused[0].narrow(2, 0, 64).isnan().any().item<bool>());
    CHECK_FALSE(fused[0][1][0].isnan().any().item<bool>());
  }
}

TEST_CASE("delta rules that have no fused form run the reference") {
  const auto refused = [](const DeltaRule& rule) {
    CHECK_FALSE(kernels::may_fuse_delta_rule(rule));
    CHECK(delta_rule(rule, true).values.equal(delta_rule(rule).values));
  };
  const Rule odd{2, 2, 33, 24, 16, true}, of{2, 2, 33, 16, 16, true};
  refused(rule_of(odd, drawn(odd)));
  refused(rule_of(of, in_double(drawn(of))));
  auto apart = rule_of(of, drawn(of));
  CHECK(kernels::may_fuse_delta_rule(apart) == !kernels::instructions().empty());
  apart.erase = apart.write.clone();
  refused(apart);
  auto by_channel = rule_of(of, drawn(of));
  by_channel.log_decay = by_channel.log_decay.expand({-1, -1, -1, 16}).contiguous();
  refused(by_channel);
}

TEST_CASE("the delta rule, fused, throws if a second derivative is needed") {
  if (kernels::instructions().empty()) return skip("this processor lacks the instructions that the fused kernels need");
  const Rule of{1, 1, 20, 16, 16, true};
  auto in = drawn(of);
  in[kQ].requires_grad_();
  const auto y = delta_rule(rule_of(of, in), true).values.sum();
  CHECK_THROWS_AS(torch::autograd::grad({y}, {in[kQ]}, {}, true, true), std::runtime_error);
}
