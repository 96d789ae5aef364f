// Random features: orthogonal, unbiased, better with more of them, and the same after save and load.
#include <ATen/ops/softmax.h>
#include <torch/serialize.h>

#include <sstream>

#include "plugins/random-features/features.h"
#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

namespace {

using namespace ablate::test;
using ablate::FeatureKernel;
using torch::Tensor;

constexpr const char* kKernels[] = {"positive", "trigonometric", "hyperbolic"};
constexpr FeatureKernel kEach[] = {FeatureKernel::kPositive, FeatureKernel::kTrigonometric, FeatureKernel::kHyperbolic};

/// phi without any stabiliser: [batch, heads, n, slots * columns]
Tensor features(FeatureKernel kernel, const Tensor& x, const Tensor& w) {
  const auto [log, factor] = ablate::log_features(kernel, x, w);
  return factor.defined() ? log.exp() * factor : log.exp();
}

}  // namespace

TEST_CASE("feature vectors are orthogonal within blocks of d, as long as normal vectors, and not all alike") {
  const std::int64_t d = 8, count = 2003;
  const auto w = ablate::orthogonal_features(2, count, d, ablate::make_generator(1)).to(torch::kDouble);
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
  CHECK(distance(w.square().mean(at::IntArrayRef{0, 1}), torch::ones({d}, torch::kDouble)) < 0.1);
  CHECK_FALSE(torch::equal(w[0], w[1]));
}

TEST_CASE("scores are unbiased, and their error falls with the number of features") {
  const std::int64_t d = 8, seeds = 400;
  // Short vectors: the variance grows as exp(|x + y|^2), and a mean of few heavy-tailed numbers tells nothing.
  const auto x = 0.25 * normal({1, 1, 4, d}, 1), y = 0.25 * normal({1, 1, 4, d}, 2);
  const auto exact = x.matmul(y.transpose(-1, -2)).exp();
  for (std::size_t k = 0; k < 3; ++k) {
    INFO(kKernels[k]);
    double last = 1e9;
    for (const std::int64_t slots : {4, 32, 256}) {
      std::vector<Tensor> estimates;
      for (std::int64_t seed = 0; seed < seeds; ++seed) {
        const auto w = ablate::orthogonal_features(1, slots, d, ablate::make_generator(100 + seed)).to(torch::kDouble);
        const double weight = kEach[k] == FeatureKernel::kHyperbolic ? 2.0 : 1.0;
        estimates.push_back(features(kEach[k], x, w).matmul(features(kEach[k], y, w).transpose(-1, -2)) /
                            (weight * static_cast<double>(slots)));
      }
      const auto all = torch::stack(estimates);
      // Within five standard errors of the mean, for each of the 16 scores.
      const auto standard_error = all.std(0) / std::sqrt(static_cast<double>(seeds));
      CHECK(((all.mean(0) - exact).abs() / standard_error).max().item<double>() < 5);
      const double error = ((all - exact) / exact).abs().mean().item<double>();
      CHECK(error < 0.7 * last);
      last = error;
    }
    CHECK(last < 0.1);
  }
}

TEST_CASE("a read equals features written out, and nears softmax attention with more features") {
  const std::int64_t n = 48, d = 8;
  const auto keys = normal({2, 2, n, d}, 1), values = normal({2, 2, n, d}, 2), queries = normal({2, 2, 5, d}, 3);
  const auto exact = at::softmax(queries.matmul(keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(d)), -1).matmul(values);
  for (std::size_t k = 0; k < 3; ++k) {
    INFO(kKernels[k]);
    const auto plugin = compression("random-features", {{"kernel", kKernels[k]}});
    double last = 1e9;
    for (const std::int64_t slots : {3, 48}) {
      double error = 0;
      for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const auto random_features = make(plugin, {slots, n}, 2, d, n, seed);
        const auto memory = random_features->write(keys, values, {});
        REQUIRE(memory.values.size(2) == slots);
        const auto output = random_features->read(queries, memory, ablate::Similarity::kSoftmax);
        error += (output - exact).abs().mean().item<double>();
        const auto w = random_features->named_buffers()["features"];
        const double scale = std::pow(static_cast<double>(d), -0.25);
        const auto weights =
            features(kEach[k], queries * scale, w).matmul(features(kEach[k], keys * scale, w).transpose(-1, -2));
        // Trigonometric weights may sum to nearly 0, where the read is guarded and the plain quotient is not.
        const auto sum = weights.sum(-1, true);
        const auto usable = sum > 0.05 * weights.abs().sum(-1, true);
        CHECK(distance((output - weights.matmul(values) / sum).masked_fill(usable.logical_not(), 0),
                       torch::zeros_like(output)) < 1e-9);
        CHECK(usable.any().item<bool>());
      }
      CHECK(error < 0.8 * last);
      last = error;
    }
  }
}

TEST_CASE("trigonometric weights that sum to nothing or less give bounded reads and finite gradients") {
  const auto plugin = compression("random-features", {{"kernel", "trigonometric"}});
  const auto keys = 6 * normal({2, 2, 16, 8}, 1), values = normal({2, 2, 16, 8}, 2);
  auto queries = (6 * normal({2, 2, 400, 8}, 3)).requires_grad_();
  const auto random_features = make(plugin, {1, 8}, 2, 8, 16);
  const auto memory = random_features->write(keys, values, {});
  const auto output = random_features->read(queries, memory, ablate::Similarity::kSoftmax);
  const auto bound = 1e3 * memory.values.reshape({2, 2, 4, 8}).norm(2, {2, 3}) / memory.mass.flatten(2).norm(2, -1);
  CHECK((output.norm(2, -1).amax(-1) <= bound * (1 + 1e-9)).all().item<bool>());
  output.sum().backward();
  CHECK(queries.grad().isfinite().all().item<bool>());
}

TEST_CASE("features are redrawn at the steps asked for, the same way each time, and are saved") {
  const auto plugin = compression("random-features", {{"redraw", 3}});
  const auto first = make(plugin, {1, 2}, 2, 8, 32, 1), second = make(plugin, {1, 2}, 2, 8, 32, 1);
  const auto features_of = [](ablate::Compression& compression) { return compression.named_buffers()["features"].clone(); };
  const auto drawn = features_of(*first);
  for (const std::int64_t step : {1, 2}) first->on_step(step);
  CHECK(torch::equal(features_of(*first), drawn));
  first->on_step(3);
  CHECK_FALSE(torch::equal(features_of(*first), drawn));
  // One that starts at step 3, as after a checkpoint, draws what the first drew.
  second->on_step(3);
  CHECK(torch::equal(features_of(*first), features_of(*second)));

  std::stringstream stream;
  torch::serialize::OutputArchive out;
  first->save(out);
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  const auto other = make(plugin, {1, 2}, 2, 8, 32, 9);
  other->load(in);
  CHECK(torch::equal(features_of(*first), features_of(*other)));

  const auto never = make(compression("random-features", {{"redraw", 0}}), {1, 2}, 2, 8, 32, 1);
  never->on_step(1000);
  CHECK(torch::equal(features_of(*never), drawn));
}
