// Delta rule against its recurrence, token by token and step by step: DeltaNet and its successors.
#include <functional>

#include "tests/plugins/recurrent.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

struct Variant {
  std::string name;
  std::string decay = "none", erase = "beta", write = "beta";
  bool gate = false, negative = false;
  std::int64_t steps = 1, convolution = 0;
};

// clang-format off
const std::vector<Variant> kVariants = {
    {.name = "DeltaNet"},
    {.name = "Gated DeltaNet", .decay = "learned", .gate = true},
    {.name = "KDA", .decay = "channel", .gate = true},
    {.name = "Gated DeltaNet-2", .decay = "channel", .erase = "channel", .write = "channel", .gate = true},
    {.name = "two numbers a head", .erase = "head"},
    {.name = "erased by channel", .decay = "learned", .erase = "channel"},
    {.name = "written by channel", .write = "channel"},
    {.name = "[-1, 1]", .negative = true},
    {.name = "[-1, 1] and Gated DeltaNet-2", .decay = "channel", .erase = "channel", .write = "channel", .negative = true},
    {.name = "[-1, 1], written by channel", .write = "channel", .negative = true},
    {.name = "DeltaProduct", .negative = true, .steps = 3},
    {.name = "Gated DeltaProduct", .decay = "learned", .gate = true, .negative = true, .steps = 2},
    {.name = "all", .decay = "channel", .erase = "channel", .write = "channel", .gate = true, .negative = true, .steps = 2,
     .convolution = 4},
    {.name = "DeltaProduct with a convolution", .steps = 3, .convolution = 2},
};
// clang-format on

enum class Wrong { kNothing, kNoCorrection, kLateDecay, kLongKeys, kEqualStrengths, kHalf, kDecaysEachStep, kReadsEarly };

/// Returns x / sqrt(|x|^2 + 1e-6).
Tensor to_unit(const Tensor& x) { return x / (x.square().sum(-1, true) + 1e-6).sqrt(); }

/// Returns [n, heads c] of one item as [n, heads, steps, c / steps].
Tensor by_steps(const Tensor& x, std::int64_t steps) { return by_heads(x, kHeads).unflatten(-1, {steps, -1}); }

/// Computes one item, x [n, d_model], by the equation.
Tensor by_rule(const ablate::Attention& attention, const Tensor& x, const Variant& variant, Wrong wrong = Wrong::kNothing) {
  const auto of = [&](const std::string& name) { return parameter(attention, name); };
  std::int64_t begin = 0;
  const auto active = [&](const std::string& name, const char* filter) {
    const auto y = layer(attention, name, x);
    if (variant.convolution == 0) return swish(y);
    begin += y.size(1);
    return convolved(y, of(filter).narrow(0, begin - y.size(1), y.size(1)));
  };
  const auto q = to_unit(by_heads(active("query", "filter"), kHeads));
  auto k = by_steps(active("key", "filter"), 1), v = by_steps(active("value", "filter"), 1);  // [n, heads, steps, d]
  if (variant.steps > 1) {
    begin = 0;
    const auto further = active("further", "further_filter");
    const auto keys = kHeads * (variant.steps - 1) * k.size(3);
    k = ablate::cat({k, by_steps(further.narrow(1, 0, keys), variant.steps - 1)}, 2);
    v = ablate::cat({v, by_steps(further.narrow(1, keys, further.size(1) - keys), variant.steps - 1)}, 2);
  }
  if (wrong != Wrong::kLongKeys) k = to_unit(k);
  const auto strength = [&](const char* name) {
    return by_steps(x.matmul(of(std::string(name) + ".weight").t()), variant.steps).sigmoid();
  };
  const double most = variant.negative && wrong != Wrong::kHalf ? 2 : 1;
  const auto erase = strength(variant.erase == "beta" ? "beta" : "erase") * most;
  auto write = variant.write == "channel" ? strength("write") : variant.erase == "beta" ? erase : strength("beta");
  if (wrong == Wrong::kEqualStrengths) write = erase.mean(-1, true);
  auto alpha = ablate::ones({x.size(0), kHeads, 1}, ablate::kDouble);
  if (variant.decay != "none") {
    auto logits = x.matmul(of("step.weight").t());
    if (variant.decay == "channel") logits = logits.matmul(of("step_up.weight").t());
    const auto step = (logits + of("step_bias")).exp().log1p();
    alpha = (by_heads(step, kHeads) * -of("log_rate").exp().unsqueeze(-1)).exp();
  }
  std::vector<Tensor> rows;
  auto state = ablate::zeros({kHeads, k.size(3), v.size(3)}, ablate::kDouble);
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const auto a = alpha[i].unsqueeze(-1);
    Tensor early;
    for (std::int64_t j = 0; j < variant.steps; ++j) {
      if (wrong != Wrong::kLateDecay && (j == 0 || wrong == Wrong::kDecaysEachStep)) state = a * state;
      const auto key = k[i].select(1, j), value = write[i].select(1, j) * v[i].select(1, j);
      const auto held = ((erase[i].select(1, j) * key).unsqueeze(-1) * state).sum(-2, true);
      const auto column = key.unsqueeze(-1);
      if (wrong != Wrong::kNoCorrection) state = state - column * held;
      state = state + column * value.unsqueeze(-2);
      if (j == 0) early = state;
    }
    if (wrong == Wrong::kLateDecay) state = a * state;
    const auto& read = wrong == Wrong::kReadsEarly ? early : state;
    rows.push_back((q[i].unsqueeze(-1) * read).sum(-2) / std::sqrt(static_cast<double>(q.size(2))));
  }
  const auto normed = plainly_normed(ablate::stack(rows), false).flatten(1);
  return layer(attention, "output", variant.gate ? normed * swish(layer(attention, "gate", x)) : normed);
}

/// Returns the faults that change a variant's results.
std::vector<Wrong> wrongs_of(const Variant& variant) {
  std::vector<Wrong> wrongs = {Wrong::kNoCorrection, Wrong::kLongKeys};
  if (variant.decay != "none") wrongs.push_back(Wrong::kLateDecay);
  if (variant.erase != "beta" || variant.write != "beta") wrongs.push_back(Wrong::kEqualStrengths);
  if (variant.negative) wrongs.push_back(Wrong::kHalf);
  if (variant.steps > 1) wrongs.push_back(Wrong::kReadsEarly);
  if (variant.steps > 1 && variant.decay != "none") wrongs.push_back(Wrong::kDecaysEachStep);
  return wrongs;
}

std::shared_ptr<ablate::Attention> delta(const Variant& variant, bool carries = false) {
  return make(section("delta", {{"heads", kHeads},
                                {"decay", variant.decay},
                                {"gate", variant.gate},
                                {"convolution", variant.convolution},
                                {"key_width", 0.5},
                                {"erase", variant.erase},
                                {"write", variant.write},
                                {"negative_eigenvalues", variant.negative},
                                {"householder_steps", variant.steps}}),
              1, {.causal = true, .carries = carries});
}

}  // namespace

TEST_CASE("delta equals its recurrence in every variant, with gradients; wrong variants differ") {
  for (const auto& variant : kVariants)
    for (const std::int64_t n : {1, 2, 9, 130}) {
      const auto attention = delta(variant);
      const auto x = random_tokens(2, n, 2).requires_grad_(), weights = random_tokens(2, n, 3);
      const auto output = run(*attention, {x});
      const auto expected = ablate::stack(std::vector{by_rule(*attention, x[0], variant), by_rule(*attention, x[1], variant)});
      INFO(variant.name << ", n " << n);
      CHECK(distance(output, expected) < 1e-11);
      CHECK(distance(gradients(*attention, (output * weights).sum(), {x}),
                     gradients(*attention, (expected * weights).sum(), {x})) < 1e-9);
      if (n != 9) continue;
      for (const auto wrong : wrongs_of(variant)) {
        INFO("wrong " << static_cast<int>(wrong));
        CHECK(distance(output[0], by_rule(*attention, x[0], variant, wrong)) > 1e-4);
      }
    }
}

TEST_CASE("delta with a convolution gives the same output in segments as in one pass, with and without padding") {
  for (auto variant : kVariants) {
    variant.convolution = 4;
    INFO(variant.name);
    const auto attention = delta(variant, true);
    const auto x = random_tokens(2, 75, 2);
    const auto whole = run(*attention, {.queries = x, .state = attention->initial_state(2)});
    CHECK(distance(by_segments(*attention, x, {5, 1, 65, 4}), whole) < 1e-11);
    auto padded = x.narrow(1, 0, 20).clone();
    padded[1].narrow(0, 7, 13).fill_(NAN);
    const auto after =
        pass(*attention, {.queries = padded, .mask = mask_of(20, {20, 7}), .state = attention->initial_state(2)});
    const auto alone = pass(*attention, {.queries = x[1].narrow(0, 0, 7).unsqueeze(0), .state = attention->initial_state(1)});
    CHECK(distance(after.output[1].narrow(0, 0, 7), alone.output[0]) < 1e-11);
    for (std::size_t part = 0; part < after.state.size(); ++part)
      CHECK(distance(after.state[part][1], alone.state[part][0]) < 1e-11);
  }
}

TEST_CASE("delta writes a value that can be read by its key, and replaces the key's previous value") {
  // beta is 1, and both tokens have the same key, so the state contains only the second value.
  const auto attention = make(section("delta", {{"heads", 1}, {"convolution", 0}, {"norm", false}}), 1, {.causal = true});
  {
    const ablate::NoGradGuard none;
    parameter(*attention, "beta.weight").fill_(100);
    for (const auto* name : {"query", "key"}) parameter(*attention, std::string(name) + ".weight").zero_();
    parameter(*attention, "key.bias").copy_(parameter(*attention, "query.bias"));
  }
  const auto x = random_tokens(1, 2, 2).abs();
  const auto read =
      by_heads(swish(layer(*attention, "value", x[0])), 1).select(1, 0) / std::sqrt(static_cast<double>(kChannels));
  const auto expected = layer(*attention, "output", read);
  CHECK(distance(run(*attention, {x})[0], expected) < 1e-4);  // keys have length 1, up to 1e-6
}

TEST_CASE("delta: with eigenvalues of -1, a sign keeps the parity of bits; eigenvalues of 0 lose it") {
  // Beta is at its maximum for a bit of 1, else 0. All keys and queries are equal, and values are 0 after the first token.
  for (const bool negative : {true, false}) {
    const auto attention =
        make(section("delta", {{"heads", 1}, {"convolution", 0}, {"norm", false}, {"negative_eigenvalues", negative}}), 1,
             {.causal = true});
    const std::vector<int> bits = {1, 1, 0, 1, 1, 1, 0, 0, 1};
    auto x = ablate::zeros({1, static_cast<std::int64_t>(bits.size()), kChannels}, ablate::kDouble);
    for (std::size_t i = 0; i < bits.size(); ++i) x[0][static_cast<std::int64_t>(i)][0] = bits[i] == 1 ? 1 : -1;
    x[0][0][1] = 1;
    {
      const ablate::NoGradGuard none;
      for (const auto* name : {"query.weight", "key.weight", "value.weight", "value.bias", "beta.weight"})
        parameter(*attention, name).zero_();
      for (const auto* name : {"query.bias", "key.bias"}) parameter(*attention, name).fill_(1);
      parameter(*attention, "beta.weight").select(1, 0).fill_(100);
      parameter(*attention, "value.weight").select(1, 1).fill_(1);
    }
    const auto output = run(*attention, {x})[0], nothing = parameter(*attention, "output.bias");
    const auto first = output[0] - nothing;
    REQUIRE(first.abs().max().item<double>() > 1e-3);
    double sign = 1;
    for (std::size_t i = 1; i < bits.size(); ++i) {
      sign *= bits[i] == 0 ? 1 : negative ? -1 : 0;
      CHECK(distance(output[static_cast<std::int64_t>(i)] - nothing, first * sign) < 1e-5);  // keys have length 1, up to 1e-6
    }
  }
}

TEST_CASE("delta: each option, set to change nothing, gives the output of the plain method") {
  const Variant gated{.name = "", .decay = "learned", .gate = true, .convolution = 4};
  const auto plain = delta(gated);
  const auto x = random_tokens(2, 130, 2);
  const auto expected = run(*plain, {x});
  const auto beta = parameter(*plain, "beta.weight"), step = parameter(*plain, "step.weight");
  const std::int64_t d_key = kChannels / 2 / kHeads, d_value = kChannels / kHeads;
  const auto each = [](const Tensor& rows, std::int64_t times) { return rows.repeat_interleave(times, 0); };
  // Common parameters are copied. A variant's additional parameters are set so that they change nothing.
  const auto differs = [&](Variant variant, const std::function<void(ablate::Attention&)>& set) {
    variant.gate = true, variant.convolution = 4;
    const auto attention = delta(variant);
    const ablate::NoGradGuard none;
    for (auto& entry : attention->parameters()) {
      const auto same = parameter(*plain, entry.name);
      if (same.defined() && same.sizes() == entry.tensor.sizes()) entry.tensor.copy_(same);
    }
    set(*attention);
    return distance(run(*attention, {x}), expected);
  };
  const auto set = [](ablate::Attention& attention, const char* name, const Tensor& value) {
    REQUIRE(parameter(attention, name).sizes() == value.sizes());
    parameter(attention, name).copy_(value);
  };
  CHECK(differs(gated, [](auto&) {}) == 0);
  CHECK(differs({.decay = "learned", .erase = "head"}, [&](auto& a) { set(a, "erase.weight", beta); }) == 0);
  CHECK(differs({.decay = "learned", .erase = "channel", .write = "channel"}, [&](auto& a) {
          set(a, "erase.weight", each(beta, d_key)), set(a, "write.weight", each(beta, d_value));
        }) < 1e-12);
  CHECK(differs({.decay = "channel"}, [&](auto& a) {
          auto up = ablate::zeros({kHeads * d_key, d_value}, ablate::kDouble);
          for (std::int64_t h = 0; h < kHeads; ++h) up.narrow(0, h * d_key, d_key).select(1, h).fill_(1);
          set(a, "step.weight", ablate::cat({step, ablate::zeros({d_value - kHeads, kChannels}, ablate::kDouble)}));
          set(a, "step_up.weight", up), set(a, "step_bias", each(parameter(*plain, "step_bias"), d_key));
        }) < 1e-12);
  // A second step with a key of 0 writes nothing. Strengths are ordered by head, then by step.
  CHECK(differs({.decay = "learned", .steps = 2}, [&](auto& a) {
          set(a, "beta.weight", each(beta, 2));
          parameter(a, "further.weight").zero_(), parameter(a, "further.bias").zero_();
        }) < 1e-12);
  CHECK(differs({.decay = "learned", .steps = 2}, [&](auto& a) { set(a, "beta.weight", each(beta, 2)); }) > 1e-4);
}
