// Clustering against a brute-force assignment, and its moving centroids against arithmetic by hand.
#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

namespace {

using namespace ablate::test;
using ablate::Rate;
using ablate::Tensor;

double dot_product(const Tensor& a, const Tensor& b) { return (a * b).sum().item<double>(); }

/// The centroid with the largest dot product, one by one.
std::int64_t nearest(const Tensor& point, const std::vector<Tensor>& centroids) {
  std::int64_t best = 0;
  for (std::size_t j = 1; j < centroids.size(); ++j)
    if (dot_product(point, centroids[j]) > dot_product(point, centroids[best])) best = static_cast<std::int64_t>(j);
  return best;
}

/// The buffer itself, not a copy.
Tensor centroids_of(ablate::Compression& compression) { return buffer(compression, "centroids"); }

Tensor numbers(const std::vector<double>& values) {
  auto result = ablate::empty({static_cast<std::int64_t>(values.size())}, ablate::kDouble);
  std::copy(values.begin(), values.end(), result.mutable_data_ptr<double>());
  return result;
}

}  // namespace

TEST_CASE("clusters equal a brute-force search, for each number of Lloyd steps") {
  for (const std::int64_t iterations : {1, 2, 5}) {
    const auto clustering = make(section("clustering", {{"iterations", iterations}}), {{1, 4}}, 2, 3, 64);
    const std::vector<std::int64_t> lengths{30, 17, 1, 0};
    const auto keys = normal({4, 2, 30, 3}, 1), values = normal({4, 2, 30, 3}, 2);
    const auto memory = write(*clustering, keys, values, mask_of(30, lengths));
    REQUIRE(memory.keys.size(2) == 8);
    double worst = 0;
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t h = 0; h < 2; ++h) {
        const auto slots = Rate{1, 4}.slots(lengths[i]);
        std::vector<Tensor> centroids;
        for (std::int64_t j = 0; j < slots; ++j) centroids.push_back(centroids_of(*clustering)[h][j].to(ablate::kDouble));
        std::vector<std::vector<std::int64_t>> members;
        for (std::int64_t step = 0; step < iterations; ++step) {
          members.assign(8, {});
          for (std::int64_t p = 0; p < lengths[i]; ++p) members[nearest(keys[i][h][p], centroids)].push_back(p);
          for (std::int64_t j = 0; j < slots; ++j) {
            if (members[j].empty()) continue;
            auto sum = ablate::zeros({3}, ablate::kDouble);
            for (const auto p : members[j]) sum += keys[i][h][p] / keys[i][h][p].norm();
            centroids[j] = sum / sum.norm();
          }
        }
        for (std::int64_t j = 0; j < 8; ++j) {
          auto key = ablate::zeros({3}, ablate::kDouble), value = ablate::zeros({3}, ablate::kDouble);
          const auto count = members[j].size();
          for (const auto p : members[j]) {
            key += keys[i][h][p] / static_cast<double>(count);
            value += values[i][h][p] / static_cast<double>(count);
          }
          worst = std::max({worst, distance(memory.keys[i][h][j], key), distance(memory.values[i][h][j], value),
                            std::abs(memory.mass[i][h][j].item<double>() - static_cast<double>(count))});
        }
      }
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("centroids start on the unit ball and move by an exponential moving average, in training only") {
  const auto clustering = make(section("clustering", {{"decay", 0.75}}), {{1, 2}}, 1, 2, 6);
  auto centroids = centroids_of(*clustering);
  CHECK(centroids.scalar_type() == ablate::kFloat);  // whatever the module was moved to
  CHECK(distance(centroids.norm(2, -1), ablate::ones({1, 3}, ablate::kDouble)) < 1e-6);
  CHECK_FALSE(centroids.requires_grad());
  // Three centroids; the third has no member among the keys below.
  centroids.copy_(numbers({1.0, 0.0, 0.0, 1.0, -1.0, 0.0}).view({1, 3, 2}));
  const auto before = centroids.clone();
  // Unit keys: (0.8, 0.6) and (1, 0) to the first, (0, 1) to the second; the last three are padding.
  const auto keys =
      numbers({8.0, 6.0, 5.0, 0.0, 0.0, 0.1, -9.0, 0.0, -9.0, 0.0, -9.0, 0.0}).view({1, 1, 6, 2}).requires_grad_();
  const auto mask = mask_of(6, {3});

  write(*clustering, keys, keys, mask);
  clustering->on_step(1, ablate::make_generator(1));
  CHECK(centroids.equal(before));

  clustering->train();
  // Both passes count before the step: the average of their members is the average of one. Only two centroids exist at
  // length 3.
  for (int pass = 0; pass < 2; ++pass) write(*clustering, keys, keys, mask).values.sum().backward();
  CHECK(centroids.equal(before));
  clustering->on_step(1, ablate::make_generator(1));
  // 0.75 (1, 0) + 0.25 (0.9, 0.3) = (0.975, 0.075); 0.75 (0, 1) + 0.25 (0, 1) = (0, 1).
  const double norm = std::sqrt(0.975 * 0.975 + 0.075 * 0.075);
  const auto expected = numbers({0.975 / norm, 0.075 / norm, 0.0, 1.0, -1.0, 0.0}).view({1, 3, 2});
  CHECK(distance(centroids, expected) < 1e-7);
  // Nothing was counted since: nothing moves.
  clustering->on_step(2, ablate::make_generator(1));
  CHECK(distance(centroids, expected) < 1e-7);
}

TEST_CASE("clustering refuses shapes it was not made for") {
  const auto clustering = make(section("clustering"), {{1, 2}}, 2, 4, 8);
  CHECK_THROWS_AS(write(*clustering, normal({1, 2, 8, 5}, 1), normal({1, 2, 8, 5}, 2)), std::invalid_argument);
  CHECK_THROWS_AS(write(*clustering, normal({1, 3, 8, 4}, 1), normal({1, 3, 8, 4}, 2)), std::invalid_argument);
}
