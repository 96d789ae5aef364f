// Mamba-2 against the recurrence of its state space, token by token.
#include "tests/plugins/recurrent.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 4, kStates = 3, kTokens = 4, kInner = 2 * kChannels;

std::shared_ptr<ablate::Attention> mamba(bool carries = false, std::int64_t convolution = kTokens) {
  return make(section("mamba2", {{"heads", kHeads}, {"state", kStates}, {"convolution", convolution}}), 1,
              {.causal = true, .carries = carries});
}

Tensor softplus(const Tensor& x) { return (1 + x.exp()).log(); }

/// Computes one item: h_t = exp(-A dt) h_(t-1) + dt B_t x_t, y_t = C_t h_t + D x_t, gated, normed (sections 5 and 7).
/// @param decays false: a state that forgets nothing
Tensor expected(const ablate::Attention& attention, const Tensor& tokens, bool decays = true) {
  const auto of = [&](const char* name) { return parameter(attention, name); };
  const auto all = tokens.matmul(of("in.weight").t());
  const auto n = tokens.size(0), d = kInner / kHeads;
  const auto gate = all.narrow(1, 0, kInner), fields = all.narrow(1, kInner, kInner + 2 * kStates),
             steps = softplus(all.narrow(1, 2 * kInner + 2 * kStates, kHeads) + of("step_bias"));
  // Without a convolution, only SiLU is applied.
  const auto active = swish(of("filter").defined() ? filtered(fields, of("filter")) + of("filter_bias") : fields);
  std::vector<Tensor> state(kHeads, ablate::zeros({kStates, d}, ablate::kDouble)), rows;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto b = active[i].narrow(0, kInner, kStates), c = active[i].narrow(0, kInner + kStates, kStates);
    std::vector<Tensor> parts;
    for (std::int64_t h = 0; h < kHeads; ++h) {
      const auto x = active[i].narrow(0, h * d, d), dt = steps[i][h];
      const auto kept = decays ? (-dt * of("log_a")[h].exp()).exp() : ablate::ones({}, ablate::kDouble);
      state[h] = state[h] * kept + b.unsqueeze(1) * (x * dt).unsqueeze(0);
      parts.push_back(c.matmul(state[h]) + x * of("skip")[h]);
    }
    const auto gated = ablate::cat(parts) * swish(gate[i]);
    rows.push_back(plainly_normed(gated, false) * of("gain"));
  }
  return ablate::stack(rows).matmul(of("out.weight").t());
}

}  // namespace

TEST_CASE("mamba2 equals its recurrence, padded and not, with gradients; without forgetting it differs") {
  const auto convolution = GENERATE(std::int64_t{0}, std::int64_t{1}, kTokens);
  const auto attention = mamba(false, convolution);
  INFO("convolution " << convolution);
  const std::vector<std::int64_t> lengths = {70, 13, 1};
  const auto x = random_tokens(3, 70, 2).requires_grad_(), weights = random_tokens(3, 70, 3);
  const auto output = run(*attention, {x, {}, mask_of(70, lengths)});
  auto loss = ablate::zeros({}, ablate::kDouble), right = ablate::zeros({}, ablate::kDouble);
  for (std::int64_t i = 0; i < 3; ++i) {
    INFO("item " << i);
    const auto n = lengths[i];
    const auto own = x[i].narrow(0, 0, n), plain = expected(*attention, own);
    CHECK(distance(output[i].narrow(0, 0, n), plain) < 1e-10);
    if (n > 1) CHECK(distance(plain, expected(*attention, own, false)) > 1e-4);
    loss = loss + (output[i].narrow(0, 0, n) * weights[i].narrow(0, 0, n)).sum();
    right = right + (plain * weights[i].narrow(0, 0, n)).sum();
  }
  CHECK(distance(gradients(*attention, loss, {x}), gradients(*attention, right, {x})) < 1e-8);
}

TEST_CASE("mamba2: segments equal the whole, with and without a convolution's tokens in the state") {
  for (const std::int64_t convolution : {std::int64_t{0}, kTokens}) {
    const auto attention = mamba(true, convolution);
    CHECK((attention->initial_state(2).size() == (convolution == 0 ? 1U : 2U)));
    const auto x = random_tokens(2, 71, 2);
    const auto whole = run(*attention, {x});
    CHECK(distance(by_segments(*attention, x, {1, 2, 28, 40}), whole) < 1e-11);
    CHECK(distance(run(*attention, {x.narrow(1, 31, 40)}), whole.narrow(1, 31, 40)) > 1e-3);
  }
}

TEST_CASE("mamba2 starts with time steps from 0.001 to 0.1, evenly in logarithms, A evenly from 1 to 16, D and the gain at 1") {
  constexpr int kSeeds = 100;
  double steps = 0, rates = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const auto attention = make(section("mamba2", {{"heads", kHeads}}), static_cast<std::uint64_t>(seed), {.causal = true});
    const auto step = softplus(parameter(*attention, "step_bias")), rate = parameter(*attention, "log_a").exp();
    CHECK(step.min().item<double>() > 0.00099);
    CHECK(step.max().item<double>() < 0.101);
    CHECK(rate.min().item<double>() > 0.999);
    CHECK(rate.max().item<double>() < 16.001);
    CHECK(distance(parameter(*attention, "skip"), ablate::ones({kHeads}, ablate::kDouble)) == 0);
    CHECK(distance(parameter(*attention, "gain"), ablate::ones({kInner}, ablate::kDouble)) == 0);
    steps += step.log().mean().item<double>() / kSeeds;
    rates += rate.mean().item<double>() / kSeeds;
  }
  // Means of 400 uniform numbers with ranges of 4.6 and 15: their deviations are 0.07 and 0.22.
  CHECK(std::abs(steps - std::log(0.01)) < 0.3);
  CHECK(std::abs(rates - 8.5) < 0.9);
}
