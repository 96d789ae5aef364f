// The continuous memory against numeric quadrature and dense solves.
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_inv.h>
#include <ATen/ops/linalg_solve.h>

#include "plugins/rbf/basis.h"
#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

namespace {

using namespace ablate::test;
using ablate::Slots;
using ablate::Tensor;

/// Returns E[psi_j(t)], [slots], under a Gaussian cut to [0, 1], by the midpoint rule on a grid around the mean.
Tensor quadrature(double mean, double variance, std::int64_t slots, double width) {
  constexpr std::int64_t points = 200000;
  const double reach = 12 * std::sqrt(variance), low = std::max(0.0, mean - reach), high = std::min(1.0, mean + reach);
  const auto t = low + (high - low) * (ablate::arange(points, ablate::kDouble) + 0.5) / static_cast<double>(points);
  const auto density = ((t - mean).square() / (-2 * variance)).exp();
  const auto centres = (ablate::arange(slots, ablate::kDouble) + 0.5).unsqueeze(1) / static_cast<double>(slots);
  const double w = width / static_cast<double>(slots);
  const auto basis = ((t - centres).square() / (-2 * w * w)).exp();
  return basis.matmul(density) / density.sum();
}

}  // namespace

TEST_CASE("the truncated expectation in closed form equals numeric quadrature") {
  for (const std::int64_t slots : {1, 4, 16})
    for (const double width : {0.25, 1.0, 2.0})
      for (const double mean : {0.0, 0.03, 0.5, 0.91, 1.0})
        for (const double variance : {1e-6, 1e-3, 0.1, 2.0, 1e4}) {
          const auto scalar = [](double x) { return ablate::full({1, 1}, x, ablate::kDouble); };
          const auto centres = (ablate::arange(slots, ablate::kDouble) + 0.5).unsqueeze(0) / static_cast<double>(slots);
          const auto closed =
              ablate::expected_basis(scalar(mean), scalar(variance), centres, scalar(width / static_cast<double>(slots)));
          INFO("slots " << slots << ", width " << width << ", mean " << mean << ", variance " << variance);
          CHECK(distance(closed[0], quadrature(mean, variance, slots, width)) < 1e-8);
        }
}

TEST_CASE("a query's looks equal numeric quadrature over the cells, and sum to 1") {
  constexpr std::int64_t points = 200000, cells = 5;
  const auto edges = ablate::arange(cells + 1, ablate::kDouble).unsqueeze(0) / static_cast<double>(cells);
  for (const double mean : {0.0, 0.31, 0.5, 1.0})
    for (const double variance : {1e-4, 1e-2, 0.7, 1e4}) {
      const auto scalar = [](double x) { return ablate::full({1, 1}, x, ablate::kDouble); };
      const auto found = ablate::shares_between(scalar(mean), scalar(variance), edges)[0];
      const auto t = (ablate::arange(points, ablate::kDouble) + 0.5) / static_cast<double>(points);
      const auto density = ((t - mean).square() / (-2 * variance)).exp();
      INFO("mean " << mean << ", variance " << variance);
      CHECK(distance(found, density.view({cells, -1}).sum(1) / density.sum()) < 1e-6);
      CHECK(std::abs(found.sum().item<double>() - 1) < 1e-12);
    }
}

TEST_CASE("coefficients equal a dense solve of the ridge system for each item's own length") {
  const std::vector<std::int64_t> lengths{20, 7, 20, 0, 1};
  const auto kept = GENERATE(Slots{{2, 5}}, Slots{.fixed = 8});  // both have 8 slots for the longest item
  const auto keys = normal({5, 2, 20, 3}, 1), values = normal({5, 2, 20, 4}, 2);
  const auto rbf = make(section("rbf", {{"width", 1.5}, {"ridge", 0.25}}), kept, 2, 3, 32);
  const auto memory = write(*rbf, keys, values, mask_of(20, lengths));
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto length = lengths[i], slots = kept.of(length);
    CHECK(memory.keys[i].narrow(1, slots, 8 - slots).abs().sum().item<double>() == 0);
    if (length == 0) {
      CHECK(memory.values[i].abs().sum().item<double>() == 0);
      continue;
    }
    // psi_j(t_i), computed separately for each j and i.
    auto f = ablate::empty({slots, length}, ablate::kDouble);
    for (std::int64_t j = 0; j < slots; ++j)
      for (std::int64_t p = 0; p < length; ++p) {
        const double away = (static_cast<double>(p) + 0.5) / static_cast<double>(length) -
                            (static_cast<double>(j) + 0.5) / static_cast<double>(slots);
        const double w = 1.5 / static_cast<double>(slots);
        f[j][p] = std::exp(-away * away / (2 * w * w));
      }
    const auto system = f.matmul(f.t()) + 0.25 * at::eye(slots, ablate::kDouble);
    for (std::int64_t h = 0; h < 2; ++h) {
      CHECK(distance(memory.keys[i][h].narrow(0, 0, slots),
                     at::linalg_solve(system, f.matmul(keys[i][h].narrow(0, 0, length)))) < 1e-10);
      CHECK(distance(memory.values[i][h].narrow(0, 0, slots),
                     at::linalg_solve(system, f.matmul(values[i][h].narrow(0, 0, length)))) < 1e-10);
    }
  }
}

TEST_CASE("without a ridge and with a slot for every token the signal is reconstructed") {
  const auto signal = normal({1, 1, 24, 3}, 1);
  const auto basis = ablate::basis_at_tokens(24, 24, 1.0);
  double last = 10;
  for (const double ridge : {1.0, 1e-3, 1e-6, 1e-9}) {
    const auto memory = write(*make(section("rbf", {{"ridge", ridge}}), {{1, 1}}, 1, 3, 24), signal, signal);
    const double error = distance(basis.t().matmul(memory.values[0][0]), signal[0][0]);
    CHECK(error < last);
    last = error;
  }
  CHECK(last < 1e-4);
}

TEST_CASE("a read is the signal's expectation under the query's Gaussian") {
  const auto kept = GENERATE(Slots{{1, 2}}, Slots{.fixed = 12});
  const std::vector<std::int64_t> lengths{16, 9};
  const auto rbf = make(section("rbf"), kept, 2, 4, 24, 3);
  const auto keys = normal({2, 2, 16, 4}, 1), values = normal({2, 2, 16, 4}, 2), queries = normal({2, 2, 3, 4}, 4);
  const auto memory = write(*rbf, keys, values, mask_of(16, lengths));
  const auto output = read(*rbf, queries, memory);
  const auto weight = parameter(*rbf, "weight").detach(), bias = parameter(*rbf, "bias").detach();
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto slots = kept.of(lengths[i]);
    for (std::int64_t h = 0; h < 2; ++h)
      for (std::int64_t q = 0; q < 3; ++q) {
        const auto scores = memory.keys[i][h].narrow(0, 0, slots).matmul(queries[i][h][q]) / 2.0;
        const auto affine = weight.narrow(1, 0, slots).matmul(scores) + bias;
        const double mean = affine[0].sigmoid().item<double>(), variance = ablate::softplus(affine[1]).item<double>() + 1e-6;
        const auto expected = quadrature(mean, variance, slots, 1.0).matmul(memory.values[i][h].narrow(0, 0, slots));
        CHECK(distance(output[i][h][q], expected) < 1e-8);
      }
  }
}

TEST_CASE("in float32 the signal is exact up to rounding; an inverse in float32 would be wrong") {
  constexpr std::int64_t slots = 48, tokens = 48;
  const auto rbf = make(section("rbf", {{"ridge", 1e-9}, {"width", 2}}), {.fixed = slots}, 1, 1, tokens);
  const auto wave = (ablate::middles(tokens) * 9.0).sin().view({1, 1, tokens, 1});
  const auto f = ablate::basis_at_tokens(tokens, slots, 2.0);
  const auto off = [&](const Tensor& b) { return distance(f.t().matmul(b.to(ablate::kDouble)), wave[0][0]); };
  const auto x = wave.to(ablate::kFloat);
  ablate::move_to(*rbf, at::kCPU, ablate::kFloat);
  const auto narrow = f.to(ablate::kFloat);
  const auto inverse = at::linalg_inv(narrow.matmul(narrow.t()) + at::eye(slots, ablate::kFloat) * 1e-9);
  CHECK(off(write(*rbf, x, x).values[0][0]) < 0.01);
  CHECK(off(inverse.matmul(narrow).matmul(x[0][0])) > 0.1);
}

TEST_CASE("a query's density loses no mass outside the signal: a constant signal is read unchanged") {
  const auto rbf = make(section("rbf"), {.fixed = 16}, 1, 4, 32);
  const auto same = ablate::ones({1, 1, 32, 1}, ablate::kDouble), queries = normal({1, 1, 50, 4}, 1) * 20.0;
  const auto memory = write(*rbf, same.expand({1, 1, 32, 4}), same);
  // A read is an average of the fitted signal, so its error is at most the signal's largest error, which is at the ends.
  const auto signal = ablate::basis_at_tokens(20000, 16, 1.0).t().matmul(memory.values[0][0]);
  const double off = (signal - 1.0).abs().max().item<double>();
  CHECK(off < 0.2);  // without the cut, a density with its mean at an end would lose half of its mass
  CHECK(distance(read(*rbf, queries, memory), ablate::ones({1, 1, 50, 1}, ablate::kDouble)) < off + 1e-6);
}
