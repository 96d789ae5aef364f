// infinity-former: without a long-term memory it equals transformer-xl. Its segments equal the paper's equations, computed
// with numeric quadrature for expectations and dense solves for the regression.
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_solve.h>

#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2, kSlots = 6, kSamples = 10, kPoints = 6000;
constexpr double kTau = 0.6, kRidge = 0.05, kSigma = 0.3, kWeight = 2;

std::shared_ptr<ablate::Attention> infinity(std::int64_t memory, bool sticky, bool carries = true) {
  return make(section("infinity", {{"heads", kHeads},
                                   {"memory", memory},
                                   {"slots", kSlots},
                                   {"sticky", sticky},
                                   {"compression",
                                    {{"plugin", "rbf"},
                                     {"ridge", kRidge},
                                     {"samples", kSamples},
                                     {"tau", kTau},
                                     {"kl", kWeight},
                                     {"sigma_0", kSigma}}}}),
              1, {.causal = true, .carries = carries});
}

/// Returns psi(t), [kSlots, n], with a column for each point of t [n].
Tensor psi(const Tensor& t) {
  const auto centres = (ablate::arange(kSlots, ablate::kDouble) + 0.5).unsqueeze(1) / static_cast<double>(kSlots);
  return ((t.unsqueeze(0) - centres) * static_cast<double>(kSlots)).square().mul(-0.5).exp();
}
/// Returns the middles of n cells between two points.
Tensor between(double low, double high, std::int64_t n) {
  return low + (high - low) * (ablate::arange(n, ablate::kDouble) + 0.5) / static_cast<double>(n);
}
Tensor fitted(const Tensor& t, const Tensor& x) {
  const auto f = psi(t);
  return at::linalg_solve(f.matmul(f.t()) + kRidge * at::eye(kSlots, ablate::kDouble), f.matmul(x));
}

/// Long-term memory of one item, and its reads by queries.
struct Oracle {
  const ablate::Attention& attention;
  bool sticky;
  Tensor signal = {};  ///< B [kSlots, d_model]; undefined: no token has left yet
  Tensor looks = ablate::zeros({kSlots}, ablate::kDouble);
  Tensor divergence = ablate::zeros({}, ablate::kDouble);  ///< divergence of the last segment, summed over heads and queries
  std::int64_t reads = 0;

  /// Returns the read of x [n, d_model] before the output projection, [n, d_model].
  Tensor read(const Tensor& x) {
    const auto split = [](const Tensor& y) { return y.unflatten(-1, {kHeads, -1}).transpose(0, 1); };
    const auto q = split(layer(attention, "query", x));
    looks = ablate::zeros({kSlots}, ablate::kDouble);
    divergence = ablate::zeros({}, ablate::kDouble);
    reads = 0;
    if (!signal.defined()) return ablate::zeros({x.size(0), kChannels}, ablate::kDouble);
    const auto k = split(signal.matmul(parameter(attention, "long_key.weight").t())),
               v = split(signal.matmul(parameter(attention, "long_value.weight").t()));
    const auto weight = parameter(attention, "compression.weight"), bias = parameter(attention, "compression.bias");
    const auto t = between(0, 1, kPoints);
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < x.size(0); ++i)
      for (std::int64_t h = 0; h < kHeads; ++h) {
        const auto scores = k[h].matmul(q[h][i]) / std::sqrt(static_cast<double>(kChannels / kHeads));
        const auto affine = weight.matmul(scores) + bias;
        const auto mean = affine[0].sigmoid(), variance = ablate::softplus(affine[1]) + 1e-6;
        const auto density = ((t - mean).square() / (variance * -2.0)).exp();
        const auto share = density / density.sum();  // normalised over [0, 1], so no mass is lost
        rows.push_back(psi(t).matmul(share).matmul(v[h]));
        looks = looks + share.detach().view({kSlots, -1}).sum(1);
        const auto ratio = variance / (kSigma * kSigma);
        divergence = divergence + (ratio - ratio.log() - 1) / 2.0;
        ++reads;
      }
    return ablate::stack(rows).view({x.size(0), kChannels});
  }

  /// Extends the memory with tokens x [n, d_model] that leave the short-term memory.
  void extend(const Tensor& x) {
    if (x.size(0) == 0) return;
    if (!signal.defined()) {
      signal = fitted(between(0, 1, x.size(0)), x);
      return;
    }
    auto places = between(0, 1, kSamples);
    if (sticky) {
      const auto total = looks.sum().item<double>();
      for (std::int64_t m = 0; m < kSamples; ++m) {
        double before = 0;
        const double share = places[m].item<double>();
        for (std::int64_t cell = 0; cell < kSlots; ++cell) {
          const double own = looks[cell].item<double>() / total;
          if (share < before + own) {
            places[m].fill_((static_cast<double>(cell) + (share - before) / own) / static_cast<double>(kSlots));
            break;
          }
          before += own;
        }
      }
    }
    const auto resampled = psi(places).t().matmul(signal);
    signal = fitted(ablate::cat({between(0, kTau, kSamples), between(kTau, 1, x.size(0))}), ablate::cat({resampled, x}));
  }
};

std::shared_ptr<ablate::Attention> short_term_of(const ablate::Attention& attention, std::int64_t memory) {
  const auto xl =
      make(section("transformer-xl", {{"heads", kHeads}, {"memory", memory}}), 1, {.causal = true, .carries = memory > 0});
  copy_parameters(attention, *xl);
  return xl;
}

}  // namespace

TEST_CASE("infinity equals transformer-xl while no token has left the short-term memory, with and without a carried state") {
  for (const bool carries : {false, true}) {
    const auto attention = infinity(12, true, carries);
    const auto xl =
        make(section("transformer-xl", {{"heads", kHeads}, {"memory", 12}}), 1, {.causal = true, .carries = carries});
    copy_parameters(*attention, *xl);
    const auto x = random_tokens(2, 12, 2).requires_grad_(), weights = random_tokens(2, 6, 3);
    const auto both = [&](ablate::Attention& of) {
      const auto first = pass(of, {.queries = x.narrow(1, 0, 6), .state = of.initial_state(2)});
      return pass(of, {.queries = x.narrow(1, 6, 6), .state = first.state}).output;
    };
    const auto found = both(*attention), expected = both(*xl);
    CHECK(distance(found, expected) < 1e-13);
    CHECK(distance(gradients(*attention, (found * weights).sum(), {x}).back(),
                   gradients(*xl, (expected * weights).sum(), {x}).back()) < 1e-12);
  }
}

TEST_CASE("infinity equals its equations in each segment and each item, also with padding, and so do its gradients") {
  const bool sticky = GENERATE(true, false);
  const std::int64_t memory = GENERATE(0, 3);
  const std::int64_t n = 5, segments = 4;
  const auto attention = infinity(memory, sticky);
  const auto xl = short_term_of(*attention, memory);
  const std::vector<std::vector<std::int64_t>> lengths{{5, 2, 5}, {5, 0, 4}, {5, 5, 1}, {5, 5, 3}};
  const auto tokens = random_tokens(3, n * segments, 2);
  std::vector<Oracle> oracles;
  for (int i = 0; i < 3; ++i) oracles.push_back({*attention, sticky});
  std::vector<Tensor> queued(3, ablate::empty({0, kChannels}, ablate::kDouble));
  auto state = attention->initial_state(3), short_state = xl->initial_state(3);
  for (std::int64_t s = 0; s < segments; ++s) {
    const auto& own = lengths[static_cast<std::size_t>(s)];
    const auto mask = mask_of(n, own), gone = mask.logical_not().unsqueeze(-1);
    const auto leaf = tokens.narrow(1, s * n, n).masked_fill(gone, NAN).requires_grad_();
    auto found = pass(*attention, {.queries = leaf, .mask = mask, .state = state});
    state = std::move(found.state);
    const auto short_term = pass(*xl, {.queries = leaf, .mask = mask, .state = short_state});
    short_state = short_term.state;
    const auto weights = random_tokens(3, n, 7 + static_cast<std::uint64_t>(s));
    const auto real = [&](const Tensor& y) { return y.masked_fill(gone, 0); };
    // Gradients of the short-term part are transformer-xl's. The added part goes through the same output projection.
    auto loss = (real(found.output) * weights).sum(), expected = (real(short_term.output) * weights).sum();
    std::vector<Tensor> added;
    const auto clean = tokens.narrow(1, s * n, n).clone().requires_grad_();
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto count = own[static_cast<std::size_t>(i)];
      const auto own_tokens = clean[i].narrow(0, 0, count);
      auto& oracle = oracles[static_cast<std::size_t>(i)];
      const auto z = count > 0 ? oracle.read(own_tokens) : ablate::zeros({0, kChannels}, ablate::kDouble);
      added.push_back(ablate::pad(z.matmul(parameter(*attention, "output.weight").t()), {0, 0, 0, n - count}));
      auto& queue = queued[static_cast<std::size_t>(i)];
      queue = ablate::cat({queue, own_tokens.detach()});
      const auto leaving = std::max<std::int64_t>(0, queue.size(0) - memory);
      ablate::NoGradGuard none;
      oracle.extend(queue.narrow(0, 0, leaving));
      queue = queue.narrow(0, leaving, queue.size(0) - leaving);
    }
    const auto sum = ablate::stack(added);
    INFO("segment " << s << ", short-term memory " << memory << (sticky ? ", sticky" : ""));
    CHECK(distance(real(found.output), real(short_term.output) + sum) < 1e-7);
    if (s > 1) CHECK(sum.abs().max().item<double>() > 1e-2);
    const auto got = gradients(*attention, loss, {leaf});
    auto right = gradients(*attention, (sum * weights).sum(), {clean});
    const auto names = attention->parameters();
    const auto of_short = gradients(*xl, expected, {leaf});
    const auto short_names = xl->parameters();
    for (std::size_t k = 0; k < names.size(); ++k)
      for (std::size_t j = 0; j < short_names.size(); ++j)
        if (short_names[j].name == names[k].name) right[k] = right[k] + of_short[j];
    right.back() = right.back() + of_short.back();
    for (std::size_t k = 0; k < got.size(); ++k) {
      INFO((k < names.size() ? names[k].name : "tokens"));
      CHECK(distance(got[k], right[k]) < 1e-6);
    }
    // Checks the memory in the state.
    for (std::int64_t i = 0; i < 3; ++i)
      if (const auto& signal = oracles[static_cast<std::size_t>(i)].signal; signal.defined())
        CHECK(distance(state.back()[i], signal) < 1e-6);
      else
        CHECK(state.back()[i].abs().max().item<double>() == 0);
  }
}

TEST_CASE("infinity: the divergence equals its equation, with gradients, only in training; without a memory it is 0") {
  const auto attention = infinity(0, false);
  const auto x = random_tokens(2, 10, 2);
  const auto first = pass(*attention, {.queries = x.narrow(1, 0, 5), .state = attention->initial_state(2)});
  CHECK_FALSE(first.auxiliary_loss.defined());
  attention->train();
  const auto leaf = x.narrow(1, 5, 5).clone().requires_grad_();
  const auto mask = mask_of(5, {5, 2});
  const auto found = pass(*attention, {.queries = leaf, .mask = mask, .state = first.state}).auxiliary_loss;
  auto expected = ablate::zeros({}, ablate::kDouble);
  std::int64_t reads = 0;
  for (std::int64_t i = 0; i < 2; ++i) {
    Oracle oracle{*attention, false};
    oracle.extend(x[i].narrow(0, 0, 5));
    oracle.read(leaf[i].narrow(0, 0, i == 0 ? 5 : 2));
    expected = expected + oracle.divergence;
    reads += oracle.reads;
  }
  expected = expected * (kWeight / static_cast<double>(reads));
  CHECK(distance(found, expected) < 1e-12);
  CHECK(distance(gradients(*attention, found, {leaf}), gradients(*attention, expected, {leaf})) < 1e-11);
  // At the start of sequences there is no memory, so the loss is 0.
  const auto none = pass(*attention, {.queries = leaf, .mask = mask, .state = attention->initial_state(2)}).auxiliary_loss;
  CHECK(none.item<double>() == 0);
}

TEST_CASE("infinity: the memory covers any length at a fixed size, and the next segment treats its state as a constant") {
  const auto attention = infinity(2, true);
  auto changed = random_tokens(1, 60, 2);
  const auto x = changed.clone().requires_grad_();
  changed.narrow(1, 0, 1).mul_(-3);
  const auto last = [&](const Tensor& tokens) {
    auto state = attention->initial_state(1);
    Tensor output;
    for (std::int64_t at = 0; at < 60; at += 5) {
      auto result = pass(*attention, {.queries = tokens.narrow(1, at, 5), .state = state});
      CHECK(result.state.back().sizes() == state.back().sizes());
      CHECK_FALSE(result.state.back().requires_grad());
      state = std::move(result.state);
      output = std::move(result.output);
    }
    return output;
  };
  const auto output = last(x);
  CHECK(distance(last(changed), output) > 1e-8);
  const auto gradient = gradients(*attention, output.sum(), {x}).back();
  CHECK(gradient.narrow(1, 0, 55).abs().max().item<double>() == 0);
  CHECK(gradient.narrow(1, 55, 5).abs().max().item<double>() > 0);
}

TEST_CASE("infinity: sticky places are drawn in training from the given generator, which has no other use") {
  for (const bool sticky : {true, false}) {
    const auto attention = infinity(0, sticky);
    attention->train();
    const auto x = random_tokens(2, 15, 2);
    const auto last = [&](std::uint64_t seed) {
      auto state = attention->initial_state(2);
      for (std::int64_t at = 0; at < 10; at += 5)
        state = pass(*attention, {.queries = x.narrow(1, at, 5), .state = state, .seed = seed}).state;
      return pass(*attention, {.queries = x.narrow(1, 10, 5), .state = state, .seed = seed}).output;
    };
    CHECK(distance(last(1), last(1)) == 0);
    CHECK((distance(last(1), last(2)) > 0) == sticky);
  }
}

TEST_CASE("infinity refuses a compression that cannot be its memory") {
  for (const auto* compression : {"segment-mean", "random-features"})
    CHECK_THROWS_WITH(make(section("infinity", {{"compression", {{"plugin", compression}}}}), 1, {.causal = true}),
                      Catch::Matchers::Contains("choose one that promises extends"));
}
