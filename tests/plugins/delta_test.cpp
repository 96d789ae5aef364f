// The delta rule against its recurrence, token by token: DeltaNet and Gated DeltaNet.
#include "tests/plugins/recurrent.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

enum class Wrong { kNothing, kNoCorrection, kLateDecay, kLongKeys };

/// x / sqrt(|x|^2 + 1e-6)
Tensor to_unit(const Tensor& x) { return x / (x.square().sum(-1, true) + 1e-6).sqrt(); }

/// One item, without a convolution. @param x [n, d_model]
Tensor by_rule(const ablate::Attention& attention, const Tensor& x, bool gated, Wrong wrong = Wrong::kNothing) {
  const auto heads = [&](const char* name) { return by_heads(swish(layer(attention, name, x)), kHeads); };
  const auto q = to_unit(heads("query")), k = wrong == Wrong::kLongKeys ? heads("key") : to_unit(heads("key")),
             v = heads("value");
  const auto beta = x.matmul(parameter(attention, "beta.weight").t()).sigmoid();  // [n, heads]
  auto alpha = ablate::zeros_like(beta) + 1.0;
  if (gated) {
    const auto step = (x.matmul(parameter(attention, "step.weight").t()) + parameter(attention, "step_bias")).exp().log1p();
    alpha = (step * -parameter(attention, "log_rate").exp()).exp();
  }
  std::vector<Tensor> rows;
  auto state = ablate::zeros({kHeads, k.size(2), v.size(2)}, ablate::kDouble);
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const auto b = beta[i].view({kHeads, 1, 1}), a = alpha[i].view({kHeads, 1, 1});
    const auto column = k[i].unsqueeze(-1);
    const auto held = (column * state).sum(-2, true);  // k^T S
    if (wrong == Wrong::kNoCorrection)
      state = a * state + b * column * v[i].unsqueeze(-2);
    else if (wrong == Wrong::kLateDecay)
      state = a * (state - b * column * held + b * column * v[i].unsqueeze(-2));
    else
      state = a * (state - b * column * held) + b * column * v[i].unsqueeze(-2);
    rows.push_back((q[i].unsqueeze(-1) * state).sum(-2) / std::sqrt(static_cast<double>(q.size(2))));
  }
  const auto normed = plainly_normed(ablate::stack(rows), false).flatten(1);
  return layer(attention, "output", gated ? normed * swish(layer(attention, "gate", x)) : normed);
}

std::shared_ptr<ablate::Attention> delta(bool gated, std::int64_t convolution = 0, bool carries = false) {
  return make(section("delta", {{"heads", kHeads},
                                {"decay", gated ? "learned" : "none"},
                                {"gate", gated},
                                {"convolution", convolution},
                                {"key_width", 0.5}}),
              1, {.causal = true, .carries = carries});
}

}  // namespace

TEST_CASE("delta is its recurrence, with gradients") {
  for (const bool gated : {false, true})
    for (const std::int64_t n : {1, 2, 9, 130}) {
      const auto attention = delta(gated);
      const auto x = random_tokens(2, n, 2).requires_grad_(), weights = random_tokens(2, n, 3);
      const auto output = run(*attention, {x});
      const auto expected = ablate::stack(std::vector{by_rule(*attention, x[0], gated), by_rule(*attention, x[1], gated)});
      INFO("gated " << gated << ", n " << n);
      CHECK(distance(output, expected) < 1e-11);
      CHECK(distance(gradients(*attention, (output * weights).sum(), {x}),
                     gradients(*attention, (expected * weights).sum(), {x})) < 1e-9);
      if (n < 9) continue;
      CHECK(distance(output[0], by_rule(*attention, x[0], gated, Wrong::kNoCorrection)) > 1e-4);
      CHECK(distance(output[0], by_rule(*attention, x[0], gated, Wrong::kLongKeys)) > 1e-4);
      if (gated) CHECK(distance(output[0], by_rule(*attention, x[0], gated, Wrong::kLateDecay)) > 1e-4);
    }
}

TEST_CASE("delta by segments, with its convolution, is the whole") {
  for (const bool gated : {false, true}) {
    const auto attention = delta(gated, 4, true);
    const auto x = random_tokens(2, 75, 2);
    const auto whole = run(*attention, {.queries = x, .state = attention->initial_state(2)});
    CHECK(distance(by_segments(*attention, x, {5, 1, 65, 4}), whole) < 1e-11);
  }
}

TEST_CASE("delta writes a value that it reads back under its key, in place of the one that was there") {
  // beta is 1, the second token's key is the first one's: the state holds the second value alone.
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
  CHECK(distance(run(*attention, {x})[0], expected) < 1e-4);  // keys are of length 1 but for 1e-6
}
