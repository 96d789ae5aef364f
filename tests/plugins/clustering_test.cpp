// Clustering against a brute-force assignment, and its moving centroids against arithmetic by hand.
#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

namespace {

using namespace ablate::test;
using ablate::Rate;
using ablate::Tensor;

double dot_product(const Tensor& a, const Tensor& b) { return (a * b).sum().item<double>(); }

/// Returns the number of the centroid with the largest dot product, by a plain loop.
std::int64_t nearest(const Tensor& point, const std::vector<Tensor>& centroids) {
  std::int64_t best = 0;
  for (std::size_t j = 1; j < centroids.size(); ++j)
    if (dot_product(point, centroids[j]) > dot_product(point, centroids[best])) best = static_cast<std::int64_t>(j);
  return best;
}

/// Applies layer norm without scale, or scales to length 1: x [..., d]. The nearest centroid then has the largest dot product.
Tensor point_of(const Tensor& x, const std::string& norm) {
  if (norm == "unit") return x / x.norm(2, -1, true);
  const auto centred = x - x.mean(-1, true);
  return centred / (centred.square().mean(-1, true) + 1e-5).sqrt();
}

/// Returns the buffer itself, not a copy.
Tensor centroids_of(ablate::Compression& compression) { return buffer(compression, "centroids"); }

Tensor numbers(const std::vector<double>& values) {
  auto result = ablate::empty({static_cast<std::int64_t>(values.size())}, ablate::kDouble);
  std::copy(values.begin(), values.end(), result.mutable_data_ptr<double>());
  return result;
}

}  // namespace

TEST_CASE("clusters equal a brute-force search, for each number of Lloyd steps and norm") {
  for (const auto& [iterations, norm] :
       std::vector<std::pair<std::int64_t, std::string>>{{1, "unit"}, {2, "unit"}, {5, "unit"}, {1, "layer"}, {5, "layer"}}) {
    INFO(iterations << " steps, " << norm);
    const auto clustering = make(section("clustering", {{"iterations", iterations}, {"norm", norm}}), {{1, 4}}, 2, 3, 64);
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
          for (std::int64_t p = 0; p < lengths[i]; ++p) members[nearest(point_of(keys[i][h][p], norm), centroids)].push_back(p);
          for (std::int64_t j = 0; j < slots; ++j) {
            if (members[j].empty()) continue;
            auto sum = ablate::zeros({3}, ablate::kDouble);
            for (const auto p : members[j]) sum += point_of(keys[i][h][p], norm);
            centroids[j] = point_of(sum, norm);
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
  CHECK(centroids.scalar_type() == ablate::kFloat);  // even if the module was moved to another type
  CHECK(distance(centroids.norm(2, -1), ablate::ones({1, 3}, ablate::kDouble)) < 1e-6);
  CHECK_FALSE(centroids.requires_grad());
  // Three centroids. The third has no member among the keys below.
  centroids.copy_(numbers({1.0, 0.0, 0.0, 1.0, -1.0, 0.0}).view({1, 3, 2}));
  const auto before = centroids.clone();
  // Unit keys: (0.8, 0.6) and (1, 0) belong to the first centroid, (0, 1) to the second. The last three keys are padding.
  const auto keys =
      numbers({8.0, 6.0, 5.0, 0.0, 0.0, 0.1, -9.0, 0.0, -9.0, 0.0, -9.0, 0.0}).view({1, 1, 6, 2}).requires_grad_();
  const auto mask = mask_of(6, {3});

  write(*clustering, keys, keys, mask);
  clustering->on_step(1, ablate::make_generator(1));
  CHECK(centroids.equal(before));

  clustering->train();
  // Both passes are counted before the step, and their average equals the average of one pass. Only two centroids exist at
  // length 3.
  for (int pass = 0; pass < 2; ++pass) write(*clustering, keys, keys, mask).values.sum().backward();
  CHECK(centroids.equal(before));
  clustering->on_step(1, ablate::make_generator(1));
  // 0.75 (1, 0) + 0.25 (0.9, 0.3) = (0.975, 0.075); 0.75 (0, 1) + 0.25 (0, 1) = (0, 1).
  const double norm = std::sqrt(0.975 * 0.975 + 0.075 * 0.075);
  const auto expected = numbers({0.975 / norm, 0.075 / norm, 0.0, 1.0, -1.0, 0.0}).view({1, 3, 2});
  CHECK(distance(centroids, expected) < 1e-7);
  // No pass was counted since then, so no centroid moves.
  clustering->on_step(2, ablate::make_generator(1));
  CHECK(distance(centroids, expected) < 1e-7);
}

TEST_CASE("queries move the centroids if that is requested, and padded queries do not") {
  const auto keys = normal({2, 2, 12, 4}, 1), values = normal({2, 2, 12, 4}, 2);
  const auto mask = mask_of(12, {12, 7}), query_mask = mask_of(9, {4, 9});
  const auto queries = normal({2, 2, 9, 4}, 3).masked_fill(query_mask.logical_not().unsqueeze(1).unsqueeze(-1), NAN);
  for (const std::string norm : {"unit", "layer"})
    for (const bool asked : {false, true}) {
      INFO(norm << ", " << asked);
      const auto clustering =
          make(section("clustering", {{"decay", 0.75}, {"norm", norm}, {"queries", asked}}), {{1, 3}}, 2, 4, 12);
      const auto before = centroids_of(*clustering).to(ablate::kDouble).clone();
      clustering->train();
      clustering->write({.keys = keys, .values = values, .mask = mask, .queries = queries, .query_mask = query_mask});
      clustering->on_step(1, ablate::make_generator(1));
      auto sums = ablate::zeros({2, 4, 4}, ablate::kDouble), counts = ablate::zeros({2, 4, 1}, ablate::kDouble);
      const auto count = [&](const Tensor& of, const std::vector<std::int64_t>& lengths) {
        for (std::int64_t i = 0; i < 2; ++i)
          for (std::int64_t h = 0; h < 2; ++h)
            for (std::int64_t p = 0; p < lengths[i]; ++p) {
              std::vector<Tensor> there;  // the second item, of 7 keys, has three slots
              for (std::int64_t j = 0; j < (i == 0 ? 4 : 3); ++j) there.push_back(before[h][j]);
              const auto point = point_of(of[i][h][p], norm);
              const auto j = nearest(point, there);
              sums[h][j] += point;
              counts[h][j] += 1;
            }
      };
      count(keys, {12, 7});
      if (asked) count(queries, {4, 9});
      const auto moved = point_of(0.75 * before + 0.25 * sums / counts.clamp_min(1), norm);
      CHECK(distance(centroids_of(*clustering), moved.where(counts > 0, before)) < 1e-6);
    }
}

TEST_CASE("a centroid without members is moved to a real token after the requested number of steps") {
  // Tokens are around (1, 0). The first centroid points there, and the others point in the opposite direction.
  const auto angle = normal({2, 1, 8, 1}, 1) * 0.3;
  const auto mask = mask_of(8, {4, 2});
  const auto keys = ablate::cat({angle.cos(), angle.sin()}, 3).masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(-1), NAN);
  const auto places = numbers({1.0, 0.0, -1.0, 0.0, -1.0, 0.0, -1.0, 0.0}).view({1, 4, 2});
  const auto trained = [&](std::int64_t revive, int steps, std::uint64_t seed) {
    const auto clustering = make(section("clustering", {{"decay", 1}, {"revive", revive}}), {{1, 2}}, 1, 2, 8, seed);
    centroids_of(*clustering).copy_(places);
    clustering->train();
    for (int step = 1; step <= steps; ++step) {
      write(*clustering, keys, keys, mask);
      clustering->on_step(step, ablate::make_generator(seed));
    }
    return centroids_of(*clustering).to(ablate::kDouble)[0].clone();
  };
  CHECK(distance(trained(0, 5, 1), places[0]) < 1e-7);
  CHECK(distance(trained(3, 2, 1), places[0]) < 1e-7);
  bool different = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto revived = trained(3, 3, seed);
    CHECK(distance(revived[0], places[0][0]) < 1e-7);
    double nearest = INFINITY;
    for (std::int64_t i = 0; i < 2; ++i)
      for (std::int64_t p = 0; p < (i == 0 ? 4 : 2); ++p) nearest = std::min(nearest, distance(revived[1], keys[i][0][p]));
    CHECK(nearest < 1e-6);
    // Items of 4 tokens have two slots, so the other centroids cannot get a member.
    CHECK(distance(revived.narrow(0, 2, 2), places[0].narrow(0, 2, 2)) < 1e-7);
    different = different || distance(revived[1], trained(3, 3, seed + 100)[1]) > 1e-3;
    // With the same seed, the same token revives the centroid.
    CHECK(distance(trained(3, 3, seed), revived) == 0);
  }
  CHECK(different);
}

TEST_CASE("in half precision, clusters are assigned, summed and moved in float32") {
  const auto keys = (normal({1, 2, 600, 4}, 1) + 1).to(at::kHalf).to(ablate::kDouble);
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    const auto rounded = keys.to(type).to(ablate::kDouble);
    const auto moved = [&](c10::ScalarType of) {
      const auto clustering = make(section("clustering", {{"queries", true}}), {{1, 300}}, 2, 4, 600);
      const auto before = centroids_of(*clustering).clone();
      clustering->train();
      const auto x = rounded.to(of);
      const auto memory = clustering->write({.keys = x, .values = x, .queries = x});
      CHECK(memory.values.scalar_type() == of);
      clustering->on_step(1, ablate::make_generator(1));
      return std::pair{(centroids_of(*clustering) - before).to(ablate::kDouble), memory.values.to(ablate::kDouble)};
    };
    const auto [step, values] = moved(type);
    const auto [wide_step, wide_values] = moved(ablate::kDouble);
    CHECK(wide_step.abs().max().item<double>() > 1e-5);  // at decay 0.999 a step is below both types' spacing at 1
    CHECK(wide_step.abs().max().item<double>() < 1e-3);
    CHECK(distance(step, wide_step) < 1e-6);
    CHECK(distance(values, wide_values) < 8e-3);
  }
}

TEST_CASE("clustering refuses other shapes than the shapes that it was made for") {
  const auto clustering = make(section("clustering"), {{1, 2}}, 2, 4, 8);
  CHECK_THROWS_AS(write(*clustering, normal({1, 2, 8, 5}, 1), normal({1, 2, 8, 5}, 2)), std::invalid_argument);
  CHECK_THROWS_AS(write(*clustering, normal({1, 3, 8, 4}, 1), normal({1, 3, 8, 4}, 2)), std::invalid_argument);
}
