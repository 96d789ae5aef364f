// The extended continuous memory: contraction against dense solves, sticky positions against loops, and the divergence.
// Looks: the sum of the queries' attention to each cell of the memory.
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_solve.h>
#include <torch/csrc/autograd/autograd.h>

#include "plugins/rbf/basis.h"
#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

namespace {

using namespace ablate::test;
using ablate::Tensor;

/// Returns psi(t) of one position, computed separately for each slot. [slots]
Tensor basis_of(double t, std::int64_t slots, double width = 1) {
  std::vector<Tensor> all;
  for (std::int64_t j = 0; j < slots; ++j) {
    const double away = (t - (static_cast<double>(j) + 0.5) / static_cast<double>(slots)) * static_cast<double>(slots) / width;
    all.push_back(ablate::full({}, std::exp(-away * away / 2), ablate::kDouble));
  }
  return ablate::stack(all);
}

/// Returns the position below which the given share of all looks lies. `looks` has a number for each cell.
double place_before(const std::vector<double>& looks, double share) {
  double total = 0, before = 0;
  for (const auto look : looks) total += look;
  for (std::size_t cell = 0; cell < looks.size(); ++cell) {
    const double own = looks[cell] / total;
    if (share < before + own) return (static_cast<double>(cell) + (share - before) / own) / static_cast<double>(looks.size());
    before += own;
  }
  return 1;
}

/// Computes section 3.2 for one item and head. Samples b's signal at `places`, spreads the samples evenly over [0, tau] and the
/// tokens x over the rest, and fits a signal to both.
Tensor contracted(const Tensor& b, const Tensor& x, const std::vector<double>& places, double tau, double ridge) {
  const auto slots = b.size(0), tokens = x.size(0);
  std::vector<Tensor> signal, f;
  for (std::size_t m = 0; m < places.size(); ++m) {
    signal.push_back(basis_of(places[m], slots).matmul(b));
    f.push_back(basis_of((static_cast<double>(m) + 0.5) / static_cast<double>(places.size()) * tau, slots));
  }
  for (std::int64_t i = 0; i < tokens; ++i) {
    signal.push_back(x[i]);
    f.push_back(basis_of(tau + (1 - tau) * (static_cast<double>(i) + 0.5) / static_cast<double>(tokens), slots));
  }
  const auto functions = ablate::stack(f, 1);
  return at::linalg_solve(functions.matmul(functions.t()) + ridge * at::eye(slots, ablate::kDouble),
                          functions.matmul(ablate::stack(signal)));
}

std::vector<double> middles_of(std::int64_t count) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(count));
  return all;
}

}  // namespace

TEST_CASE("an extended memory equals its equation for each item, without padding, with gradients") {
  constexpr std::int64_t slots = 6, samples = 9;
  const double tau = 0.6, ridge = 0.02;
  const auto rbf = make(section("rbf", {{"ridge", ridge}, {"samples", samples}, {"tau", tau}}), {.fixed = slots}, 2, 3, 24);
  const std::vector<std::int64_t> befores{7, 0, 5, 3, 0}, nows{4, 6, 0, 1, 0};
  const bool is_sticky = GENERATE(false, true);
  auto first = normal({5, 2, 8, 3}, 1), second = normal({5, 2, 6, 3}, 2);
  first = first.masked_fill(mask_of(8, befores).logical_not().unsqueeze(1).unsqueeze(-1), NAN);
  second = second.masked_fill(mask_of(6, nows).logical_not().unsqueeze(1).unsqueeze(-1), NAN).requires_grad_();
  auto held = write(*rbf, first, first.mul(2), mask_of(8, befores));
  for (auto* x : {&held.keys, &held.values}) *x = x->detach().requires_grad_();
  if (is_sticky) held.usage = normal({5, 2, slots}, 3).square();
  const auto before = held.values.detach().clone();
  const auto found = write(*rbf, second, second.neg(), mask_of(6, nows), &held);
  CHECK(distance(held.values, before) == 0);
  const auto weights = normal({5, 2, slots, 3}, 4);
  Tensor loss = (found.keys * weights).sum() + (found.values * weights).sum(), expected;
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t h = 0; h < 2; ++h) {
      const auto length = nows[static_cast<std::size_t>(i)];
      auto places = middles_of(samples);
      if (is_sticky) {
        std::vector<double> looks;
        for (std::int64_t j = 0; j < slots; ++j) looks.push_back(held.usage[i][h][j].item<double>());
        for (auto& place : places) place = place_before(looks, place);
      }
      const auto part = [&](const Tensor& b, const Tensor& x) {
        const auto own = x[i][h].narrow(0, 0, length);
        const auto none = ablate::zeros({slots, 3}, ablate::kDouble);
        if (befores[static_cast<std::size_t>(i)] > 0)
          return length > 0 ? contracted(b[i][h], own, places, tau, ridge) : b[i][h] * 1.0;
        // Without a past, the tokens fill all of [0, 1].
        return length > 0 ? contracted(none, own, {}, 0, ridge) : none;
      };
      const auto keys = part(held.keys, second), values = part(held.values, second.neg());
      INFO("item " << i << ", head " << h << (is_sticky ? ", sticky" : ""));
      CHECK(distance(found.keys[i][h], keys) < 1e-11);
      CHECK(distance(found.values[i][h], values) < 1e-11);
      const auto term = (keys * weights[i][h]).sum() + (values * weights[i][h]).sum();
      expected = expected.defined() ? expected + term : term;
    }
  const std::vector<Tensor> leaves{held.keys, held.values, second};
  const auto right = torch::autograd::grad({expected}, leaves);
  const auto got = torch::autograd::grad({loss}, leaves);
  for (std::size_t k = 0; k < leaves.size(); ++k) CHECK(distance(got[k], right[k]) < 1e-10);
}

TEST_CASE("an extended signal is the contracted old signal, followed by the new tokens") {
  constexpr std::int64_t slots = 64, tokens = 32;
  const double tau = 0.5;
  const auto rbf = make(section("rbf", {{"ridge", 1e-9}, {"samples", 64}, {"tau", tau}}), {.fixed = slots}, 1, 1, tokens);
  const auto wave = [](std::int64_t count, double from) {
    return ((ablate::arange(count, ablate::kDouble) + 0.5) * (3.0 / static_cast<double>(count)) + from)
        .sin()
        .view({1, 1, count, 1});
  };
  const auto one = wave(tokens, 0), two = wave(tokens, 3);
  auto memory = write(*rbf, one, one);
  memory = write(*rbf, two, two, {}, &memory);
  double off = 0;
  for (std::int64_t i = 0; i < tokens; ++i) {
    const double t = (static_cast<double>(i) + 0.5) / tokens;
    const auto at = [&](double place) { return basis_of(place, slots).dot(memory.values[0][0].squeeze(1)).item<double>(); };
    off = std::max({off, std::abs(at(t * tau) - one[0][0][i][0].item<double>()),
                    std::abs(at(tau + t * (1 - tau)) - two[0][0][i][0].item<double>())});
  }
  CHECK(off < 0.01);
}

TEST_CASE("positions by looks: a flat histogram, one cell with all looks, no looks, and rounding at the end") {
  const auto shares = ablate::middles(8).unsqueeze(0);
  const auto at = [&](std::vector<double> looks) {
    auto tensor = ablate::empty({1, static_cast<std::int64_t>(looks.size())}, ablate::kDouble);
    for (std::size_t i = 0; i < looks.size(); ++i) tensor[0][static_cast<std::int64_t>(i)].fill_(looks[i]);
    return ablate::place_of(tensor, shares);
  };
  CHECK(distance(at({2, 2, 2, 2}), shares) < 1e-15);
  CHECK(distance(at({0, 0, 0, 0}), shares) < 1e-15);
  CHECK(distance(at({0, 0, 3, 0}), shares / 4 + 0.5) < 1e-15);
  const auto uneven = at({1, 0, 7, 0});
  for (std::int64_t i = 0; i < 8; ++i)
    CHECK(std::abs(uneven[0][i].item<double>() - place_before({1, 0, 7, 0}, shares[0][i].item<double>())) < 1e-15);
  const auto end = ablate::place_of(ablate::full({1, 3}, 0.1, ablate::kFloat), ablate::ones({1, 1}));
  CHECK(end.item<float>() == Approx(1));
}

TEST_CASE("sticky memories draw places by the histogram, in training only, from the given generator") {
  constexpr std::int64_t slots = 4, samples = 4000;
  const auto rbf = make(section("rbf", {{"samples", samples}, {"ridge", 1e-6}, {"tau", 0.5}}), {.fixed = slots}, 1, 1, 64);
  // The signal rises with t, so a value identifies its position.
  const auto rising = ablate::middles(64).view({1, 1, 64, 1}), more = ablate::ones({1, 1, 8, 1}, ablate::kDouble);
  auto held = write(*rbf, rising, rising);
  held.usage = ablate::zeros({1, 1, slots}, ablate::kDouble);
  held.usage[0][0][1].fill_(3);
  held.usage[0][0][3].fill_(1);
  const auto extend = [&](std::uint64_t seed) {
    return rbf->write({.keys = more, .values = more, .held = &held, .generator = ablate::make_generator(seed)}).values.clone();
  };
  const auto even = extend(1);
  CHECK(distance(extend(2), even) == 0);
  rbf->train();
  const auto drawn = extend(1);
  CHECK(distance(extend(1), drawn) == 0);
  CHECK(distance(extend(2), drawn) > 1e-6);
  // The draws are so many that they lie near their quantiles.
  CHECK(distance(drawn, even) < 0.1);
  held.usage = Tensor();
  CHECK(distance(extend(1), extend(2)) == 0);
  CHECK(distance(extend(1), even) > 0.02);
}

TEST_CASE("the divergence equals its equation over the unmasked queries of items with a memory, only in training") {
  const double sigma = 0.3, weight = 2.5;
  const auto rbf = make(section("rbf", {{"kl", weight}, {"sigma_0", sigma}}), {.fixed = 5}, 2, 4, 16);
  const auto keys = normal({3, 2, 9, 4}, 1), values = normal({3, 2, 9, 4}, 2);
  const std::vector<std::int64_t> looking{3, 2, 0};
  const auto memory = write(*rbf, keys, values, mask_of(9, {9, 0, 4}));
  const auto queries = normal({3, 2, 3, 4}, 3).requires_grad_();
  const auto ask = [&](bool looks) {
    return rbf->read({.queries = queries, .memory = memory, .looks = looks, .query_mask = mask_of(3, looking)}).auxiliary_loss;
  };
  CHECK_FALSE(ask(true).defined());
  rbf->train();
  CHECK_FALSE(ask(false).defined());
  const auto found = ask(true);
  const auto w = parameter(*rbf, "weight"), bias = parameter(*rbf, "bias");
  auto expected = ablate::zeros({}, ablate::kDouble);
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t q = 0; q < 3; ++q) {  // the second item has no memory, the third no query
      const auto scores = memory.keys[0][h].matmul(queries[0][h][q]) / 2.0;
      const auto variance = ablate::softplus(w[1].dot(scores) + bias[1]) + 1e-6;
      expected = expected + (variance / (sigma * sigma) - (variance / (sigma * sigma)).log() - 1) / 2.0;
    }
  expected = expected / 6.0 * weight;
  CHECK(distance(found, expected) < 1e-12);
  const auto got = torch::autograd::grad({found}, {w, bias, queries}, {}, true),
             right = torch::autograd::grad({expected}, {w, bias, queries});
  for (std::size_t k = 0; k < got.size(); ++k) CHECK(distance(got[k], right[k]) < 1e-11);
}

TEST_CASE("a memory with a rate is not extended") {
  const auto rbf = make(section("rbf"), {{1, 2}}, 1, 2, 8);
  const auto x = normal({1, 1, 4, 2}, 1);
  const auto held = write(*rbf, x, x);
  CHECK_THROWS_WITH(write(*rbf, x, x, {}, &held), Catch::Matchers::Contains("a fixed number of slots"));
}
