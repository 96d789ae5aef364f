// Random features: orthogonal, unbiased, more accurate with more features, and equal after save and load.
#include "ablate/random_features.h"

#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

namespace {

using namespace ablate::test;
using ablate::FeatureKernel;
using ablate::Tensor;

constexpr const char* kKernels[] = {"positive", "trigonometric", "hyperbolic"};
constexpr FeatureKernel kEach[] = {FeatureKernel::kPositive, FeatureKernel::kTrigonometric, FeatureKernel::kHyperbolic};

Tensor drawn(std::int64_t heads, std::int64_t count, std::int64_t d, std::uint64_t seed) {
  return ablate::FeatureVectors(heads, count, d, 0, ablate::make_generator(seed)).vectors.to(ablate::kDouble);
}

/// Returns phi without a stabiliser: [batch, heads, n, slots * columns].
Tensor features(FeatureKernel kernel, const Tensor& x, const Tensor& w) {
  const auto [log, factor] = ablate::log_features(kernel, x, w);
  return factor.defined() ? log.exp() * factor : log.exp();
}

}  // namespace

TEST_CASE("feature vectors are orthogonal within blocks of d, have lengths of normal vectors, and differ") {
  const std::int64_t d = 8, count = 2003;
  const auto w = drawn(2, count, d, 1);
  REQUIRE(w.sizes() == at::IntArrayRef({2, count, d}));
  for (std::int64_t head = 0; head < 2; ++head)
    for (std::int64_t begin = 0; begin < count; begin += d) {
      const auto block = w[head].narrow(0, begin, std::min(d, count - begin));
      const auto gram = block.matmul(block.t());
      REQUIRE(distance(gram, gram.diag().diag()) < 1e-4);
    }
  // |w|^2 is chi-squared: mean d, variance 2 d; every coordinate has mean 0 and variance 1.
  const auto squares = w.square().sum(-1);
  CHECK(squares.mean().item<double>() == Approx(8).epsilon(0.03));
  CHECK(squares.var().item<double>() == Approx(16).epsilon(0.15));
  CHECK(w.mean(at::IntArrayRef{0, 1}).abs().max().item<double>() < 0.06);
  CHECK(distance(w.square().mean(at::IntArrayRef{0, 1}), ablate::ones({d}, ablate::kDouble)) < 0.1);
  CHECK_FALSE(w[0].equal(w[1]));
}

TEST_CASE("independent feature vectors are normal and not orthogonal, also after a redraw") {
  const std::int64_t d = 8, count = 2003;
  ablate::FeatureVectors features(2, count, d, 5, ablate::make_generator(1), false);
  for (const std::int64_t step : {0, 5}) {
    features.on_step(step == 0 ? 1 : step);
    const auto w = features.vectors.to(ablate::kDouble);
    REQUIRE(w.sizes() == at::IntArrayRef({2, count, d}));
    CHECK(distance(w.square().mean(at::IntArrayRef{0, 1}), ablate::ones({d}, ablate::kDouble)) < 0.1);
    const auto block = w[0].narrow(0, 0, d), gram = block.matmul(block.t());
    CHECK(distance(gram, gram.diag().diag()) > 1);
    // Cosines of two independent directions have mean 0 and variance 1 / d. Cosines of orthogonal directions are 0.
    const auto unit = w[0] / w[0].norm(2, -1, true);
    const auto cosines = (unit.narrow(0, 0, count - 1) * unit.narrow(0, 1, count - 1)).sum(-1);
    CHECK(cosines.square().mean().item<double>() == Approx(1.0 / d).epsilon(0.15));
  }
}

TEST_CASE("independent vectors estimate scores without bias, with more error than orthogonal vectors") {
  const std::int64_t d = 8, slots = 8, seeds = 2000;
  const auto x = 0.25 * normal({1, 1, 4, d}, 1), y = 0.25 * normal({1, 1, 4, d}, 2);
  const auto exact = x.matmul(y.transpose(-1, -2)).exp();
  double errors[2];
  for (const bool orthogonal : {false, true}) {
    std::vector<Tensor> estimates;
    for (std::int64_t seed = 0; seed < seeds; ++seed) {
      const auto w =
          ablate::FeatureVectors(1, slots, d, 0, ablate::make_generator(seed), orthogonal).vectors.to(ablate::kDouble);
      const auto phi = [&](const Tensor& of) { return features(FeatureKernel::kPositive, of, w); };
      estimates.push_back(phi(x).matmul(phi(y).transpose(-1, -2)) / static_cast<double>(slots));
    }
    const auto all = ablate::stack(estimates);
    CHECK(((all.mean(0) - exact).abs() / (all.std(0) / std::sqrt(static_cast<double>(seeds)))).max().item<double>() < 5);
    errors[orthogonal ? 1 : 0] = (all - exact).square().mean().item<double>();
  }
  CHECK(errors[1] < 0.95 * errors[0]);
}

TEST_CASE("scores are unbiased, and their error falls with the number of features") {
  const std::int64_t d = 8, seeds = 400;
  // x and y are short, because the variance grows as exp(|x + y|^2), and a mean of few heavy-tailed numbers is useless.
  const auto x = 0.25 * normal({1, 1, 4, d}, 1), y = 0.25 * normal({1, 1, 4, d}, 2);
  const auto exact = x.matmul(y.transpose(-1, -2)).exp();
  for (std::size_t k = 0; k < 3; ++k) {
    INFO(kKernels[k]);
    double last = 1e9;
    for (const std::int64_t slots : {4, 32, 256}) {
      std::vector<Tensor> estimates;
      for (std::int64_t seed = 0; seed < seeds; ++seed) {
        const auto w = drawn(1, slots, d, 100 + seed);
        const double weight = kEach[k] == FeatureKernel::kHyperbolic ? 2.0 : 1.0;
        estimates.push_back(features(kEach[k], x, w).matmul(features(kEach[k], y, w).transpose(-1, -2)) /
                            (weight * static_cast<double>(slots)));
      }
      const auto all = ablate::stack(estimates);
      // The mean of each of the 16 scores is within five standard errors of the exact score.
      const auto standard_error = all.std(0) / std::sqrt(static_cast<double>(seeds));
      CHECK(((all.mean(0) - exact).abs() / standard_error).max().item<double>() < 5);
      const double error = ((all - exact) / exact).abs().mean().item<double>();
      CHECK(error < 0.7 * last);
      last = error;
    }
    CHECK(last < 0.1);
  }
}

TEST_CASE("a read equals explicit features, and approaches softmax attention with more features") {
  const std::int64_t n = 48, d = 8;
  const auto keys = normal({2, 2, n, d}, 1), values = normal({2, 2, n, d}, 2), queries = normal({2, 2, 5, d}, 3);
  const auto exact = (queries.matmul(keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(d))).softmax(-1).matmul(values);
  for (std::size_t k = 0; k < 3; ++k) {
    INFO(kKernels[k]);
    const auto plugin = section("random-features", {{"kernel", kKernels[k]}});
    double last = 1e9;
    for (const std::int64_t slots : {3, 48}) {
      double error = 0;
      for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const auto random_features = make(plugin, {{slots, n}}, 2, d, n, seed);
        const auto memory = write(*random_features, keys, values);
        REQUIRE(memory.values.size(2) == slots);
        const auto output = read(*random_features, queries, memory);
        error += (output - exact).abs().mean().item<double>();
        const auto w = buffer(*random_features, "features.vectors");
        const double scale = std::pow(static_cast<double>(d), -0.25);
        const auto weights =
            features(kEach[k], queries * scale, w).matmul(features(kEach[k], keys * scale, w).transpose(-1, -2));
        // Trigonometric weights may sum to nearly 0. The read is guarded against such sums, but the plain quotient is not.
        const auto sum = weights.sum(-1, true);
        const auto usable = sum > 0.05 * weights.abs().sum(-1, true);
        CHECK(distance((output - weights.matmul(values) / sum).masked_fill(usable.logical_not(), 0),
                       ablate::zeros_like(output)) < 1e-9);
        CHECK(usable.any().item<bool>());
      }
      CHECK(error < 0.8 * last);
      last = error;
    }
  }
}

TEST_CASE("trigonometric weights with a sum of 0 or less give bounded reads and finite gradients") {
  const auto plugin = section("random-features", {{"kernel", "trigonometric"}});
  const auto keys = 6 * normal({2, 2, 16, 8}, 1), values = normal({2, 2, 16, 8}, 2);
  auto queries = (6 * normal({2, 2, 400, 8}, 3)).requires_grad_();
  const auto random_features = make(plugin, {{1, 8}}, 2, 8, 16);
  const auto memory = write(*random_features, keys, values);
  const auto output = read(*random_features, queries, memory);
  const auto bound = 1e3 * memory.values.reshape({2, 2, 4, 8}).norm(2, {2, 3}) / memory.mass.flatten(2).norm(2, -1);
  CHECK((output.norm(2, -1).amax(-1) <= bound * (1 + 1e-9)).all().item<bool>());
  output.sum().backward();
  CHECK(queries.grad().isfinite().all().item<bool>());
}

TEST_CASE("features are redrawn at the requested steps, reproducibly, and are saved") {
  const auto plugin = section("random-features", {{"redraw", 3}});
  const auto first = make(plugin, {{1, 2}}, 2, 8, 32, 1), second = make(plugin, {{1, 2}}, 2, 8, 32, 1);
  const auto features_of = [](ablate::Compression& compression) { return buffer(compression, "features.vectors").clone(); };
  const auto drawn = features_of(*first);
  for (const std::int64_t step : {1, 2}) first->on_step(step, ablate::make_generator(5));
  CHECK(features_of(*first).equal(drawn));
  first->on_step(3, ablate::make_generator(5));
  CHECK_FALSE(features_of(*first).equal(drawn));
  // A module that starts at step 3, as after a checkpoint, draws the same numbers as the first module.
  second->on_step(3, ablate::make_generator(5));
  CHECK(features_of(*first).equal(features_of(*second)));

  // All registered buffers are saved. With them, another module continues as the first would.
  const auto other = make(plugin, {{1, 2}}, 2, 8, 32, 9);
  for (const auto& entry : other->buffers()) ablate::Tensor(entry.tensor).copy_(buffer(*first, entry.name));
  CHECK(features_of(*first).equal(features_of(*other)));
  for (const auto& compression : {first, other}) compression->on_step(6, ablate::make_generator(6));
  CHECK(features_of(*first).equal(features_of(*other)));

  const auto never = make(section("random-features", {{"redraw", 0}}), {{1, 2}}, 2, 8, 32, 1);
  never->on_step(1000, ablate::make_generator(5));
  CHECK(features_of(*never).equal(drawn));
}

TEST_CASE("a fixed number of features serves every length, and new tokens are added to the memory") {
  const std::int64_t n = 24, d = 8, first = 9;
  const auto values = normal({3, 2, n, d}, 2), queries = normal({3, 2, 5, d}, 3);
  const auto keys = normal({3, 2, n, d}, 1) * (ablate::arange(n, ablate::kDouble) / 6).view({n, 1});  // later keys are larger
  const std::vector<std::int64_t> lengths{n, 11, 4};  // item 1 ends in the second part, item 2 in the first part
  for (const char* kernel : kKernels)
    for (const bool padded : {false, true}) {
      INFO(kernel << ", padded " << padded);
      const auto random_features = make(section("random-features", {{"kernel", kernel}}), {.fixed = 16}, 2, d, 64);
      REQUIRE(buffer(*random_features, "features.vectors").size(1) == 16);
      const auto mask = padded ? mask_of(n, lengths) : Tensor();
      const auto part = [&](const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t count) {
        return x.defined() ? x.narrow(axis, begin, count) : x;
      };
      const auto whole = write(*random_features, keys, values, mask);
      REQUIRE(whole.values.size(2) == 16);
      const auto held = write(*random_features, part(keys, 2, 0, first), part(values, 2, 0, first), part(mask, 1, 0, first));
      const auto extended = write(*random_features, part(keys, 2, first, n - first), part(values, 2, first, n - first),
                                  part(mask, 1, first, n - first), &held);
      const auto expected = read(*random_features, queries, whole);
      CHECK(distance(read(*random_features, queries, extended), expected) < 1e-10);
      CHECK(distance(read(*random_features, queries, held), expected) > 1e-3);
      // An item is written as if it were alone in the batch.
      for (std::int64_t i = 0; padded && i < 3; ++i) {
        const auto item = [&](const Tensor& x) { return x.narrow(0, i, 1); };
        const auto alone = write(*random_features, item(keys).narrow(2, 0, lengths[i]), item(values).narrow(2, 0, lengths[i]));
        CHECK(distance(read(*random_features, item(queries), alone), item(expected)) < 1e-12);
      }
    }
  const auto by_rate = make(section("random-features"), {{1, 2}}, 2, d, 64);
  const auto held = write(*by_rate, keys, values);
  CHECK_THROWS_AS(write(*by_rate, keys, values, {}, &held), std::logic_error);
}
