// Gated linear attention against its recurrence, token by token, and against simpler forms if it does not decay.
#include "tests/plugins/recurrent.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

enum class Wrong { kNothing, kCentred, kLateDecay, kNoTemperature };

/// Computes one item: S_i = diag(alpha_i) S_(i-1) + k_i v_i^T, o_i = q_i S_i / sqrt(d_key), normed, gated, projected.
/// @param x [n, d_model]
Tensor recur(const ablate::Attention& attention, const Tensor& x, Wrong wrong = Wrong::kNothing) {
  const auto q = by_heads(layer(attention, "query", x), kHeads), k = by_heads(layer(attention, "key", x), kHeads),
             v = by_heads(layer(attention, "value", x), kHeads);
  const auto logits = layer(attention, "decay_up", x.matmul(parameter(attention, "decay_down.weight").t()));
  const auto alpha = by_heads((1 / (1 + (-logits).exp())).pow(wrong == Wrong::kNoTemperature ? 1.0 : 1.0 / 16), kHeads);
  std::vector<Tensor> rows;
  auto state = ablate::zeros({kHeads, q.size(2), v.size(2)}, ablate::kDouble);
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const auto added = k[i].unsqueeze(-1) * v[i].unsqueeze(-2);
    state = wrong == Wrong::kLateDecay ? alpha[i].unsqueeze(-1) * (state + added) : alpha[i].unsqueeze(-1) * state + added;
    rows.push_back((q[i].unsqueeze(-1) * state).sum(-2) / std::sqrt(static_cast<double>(q.size(2))));
  }
  const auto normed = plainly_normed(ablate::stack(rows), wrong == Wrong::kCentred).flatten(1);
  return layer(attention, "output", normed * swish(layer(attention, "gate", x)));
}

std::shared_ptr<ablate::Attention> gated(nlohmann::json parameters = nlohmann::json::object(), bool carries = false) {
  parameters["heads"] = kHeads;
  return make(section("gated-linear", parameters), 1, {.causal = true, .carries = carries});
}

const nlohmann::json kBare = {{"norm", false}, {"gate", false}, {"key_width", 1.0}};

}  // namespace

TEST_CASE("gated-linear equals its recurrence, with gradients") {
  for (const std::int64_t n : {1, 2, 9, 130}) {
    const auto attention = gated();
    const auto x = random_tokens(2, n, 2).requires_grad_(), weights = random_tokens(2, n, 3);
    const auto output = run(*attention, {x});
    const auto expected = ablate::stack(std::vector{recur(*attention, x[0]), recur(*attention, x[1])});
    INFO("n " << n);
    CHECK(distance(output, expected) < 1e-12);
    CHECK(distance(gradients(*attention, (output * weights).sum(), {x}),
                   gradients(*attention, (expected * weights).sum(), {x})) < 1e-10);
    if (n < 9) continue;
    for (const auto wrong : {Wrong::kCentred, Wrong::kLateDecay, Wrong::kNoTemperature})
      CHECK(distance(output[0], recur(*attention, x[0], wrong)) > 1e-5);
  }
}

TEST_CASE("gated-linear by segments, also with a convolution, equals the whole") {
  for (const std::int64_t convolution : {0, 4}) {
    const auto attention = gated({{"convolution", convolution}}, true);
    const auto x = random_tokens(2, 75, 2);
    const auto whole = run(*attention, {.queries = x, .state = attention->initial_state(2)});
    CHECK(distance(by_segments(*attention, x, {5, 1, 65, 4}), whole) < 1e-11);
  }
}

TEST_CASE("gated-linear with gates at 1 equals linear attention without a normaliser, and bare retention") {
  auto parameters = kBare;
  const auto learned = gated(parameters);
  {
    const ablate::NoGradGuard none;
    parameter(*learned, "decay_up.weight").zero_();
    parameter(*learned, "decay_up.bias").fill_(40 * 16);  // 1 - alpha is below the last bit
  }
  parameters["decay"] = "none";
  const auto fixed = gated(parameters);
  const auto retention = make(
      section(
          "retention",
          {{"heads", kHeads}, {"decay", "none"}, {"rotation", false}, {"norm", false}, {"gate", false}, {"value_width", 1.0}}),
      1, {.causal = true});
  copy_parameters(*learned, *fixed);
  copy_parameters(*learned, *retention);
  const auto x = random_tokens(1, 12, 2);
  const auto expected = unnormalised_linear(*learned, kHeads, x[0]);
  for (const auto& attention : {learned, fixed, retention}) CHECK(distance(run(*attention, {x})[0], expected) < 1e-12);
}
