// Routing attention against its algorithm written plainly, cluster by cluster, in values and gradients.
#include <algorithm>

#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

struct Shape {
  std::int64_t clusters = 3, window = 0;
  bool causal = false;
  std::string members = "earlier", assignment = "kmeans";
  double commitment = 0;
};

std::shared_ptr<ablate::Attention> routing(const Shape& shape, std::uint64_t seed = 1) {
  return make(section("routing", {{"heads", kHeads},
                                  {"clusters", shape.clusters},
                                  {"window", shape.window},
                                  {"assignment", shape.assignment},
                                  {"causal_members", shape.members},
                                  {"commitment", shape.commitment},
                                  {"decay", 0.9}}),
              seed, {.causal = shape.causal});
}

Tensor on_ball(const Tensor& x) {
  const auto centred = x - x.mean(-1, true);
  return centred / (centred.square().mean(-1, true) + 1e-5).sqrt();
}

/// Returns one item's points, [heads, n, d]. likeness() returns their nearness to each centroid: [heads, clusters, n].
Tensor points(const ablate::Attention& attention, const char* name, const Tensor& x) {
  return on_ball(by_head(layer(attention, name, x), kHeads));
}
Tensor likeness(const ablate::Attention& attention, const Tensor& of) {
  const auto draws = buffer(attention, "draws");
  if (draws.defined()) return draws.narrow(2, 0, of.size(1));
  return buffer(attention, "centroids").to(ablate::kDouble).matmul(of.detach().transpose(1, 2));
}

std::vector<std::int64_t> likest(const Tensor& like, std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(like.size(0)));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  std::sort(all.begin(), all.end(),
            [&](std::int64_t a, std::int64_t b) { return like[a].item<double>() > like[b].item<double>(); });
  all.resize(static_cast<std::size_t>(count));
  return all;
}

/// Computes the published form: clusters select their nearest queries and keys. Returns, for each query, the mean over the
/// clusters that selected it.
Tensor chosen(const Shape& shape, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& q_like,
              const Tensor& k_like) {
  const auto n = q.size(0);
  const auto w = shape.window > 0 ? std::min(shape.window, n) : (n + shape.clusters - 1) / shape.clusters;
  std::vector<Tensor> sums(static_cast<std::size_t>(n), ablate::zeros({v.size(1)}, v.options().requires_grad(false)));
  std::vector<double> times(static_cast<std::size_t>(n), 0);
  for (std::int64_t c = 0; c < shape.clusters; ++c) {
    const auto keys = likest(k_like[c], w);
    for (const auto i : likest(q_like[c], w)) {
      std::vector<Tensor> scores, values;
      for (const auto j : keys)
        if (!shape.causal || j <= i) {
          scores.push_back((q[i] * k[j]).sum() / std::sqrt(static_cast<double>(q.size(1))));
          values.push_back(v[j]);
        }
      const auto at = static_cast<std::size_t>(i);
      times[at] += 1;
      if (!scores.empty()) sums[at] = sums[at] + ablate::stack(scores).softmax(0).matmul(ablate::stack(values));
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sums[i] / std::max(1.0, times[i]);
  return ablate::stack(sums);
}

/// Returns [heads, n, n] bool: the members of a token's own cluster that the token sees in the strict form.
Tensor earlier(const Shape& shape, const Tensor& like) {
  const auto n = like.size(2);
  const auto w = shape.window > 0 ? shape.window : (kMaxLength + shape.clusters - 1) / shape.clusters;
  const auto nearest = like.argmax(1);
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h)
    heads.push_back(pairs(n, [&](std::int64_t i, std::int64_t j) {
      if (j > i || nearest[h][i].item<std::int64_t>() != nearest[h][j].item<std::int64_t>()) return false;
      std::int64_t between = 0;
      for (auto t = j; t < i; ++t) between += nearest[h][t].item<std::int64_t>() == nearest[h][i].item<std::int64_t>();
      return between < w;
    }));
  return ablate::stack(heads);
}

Tensor expected(const ablate::Attention& attention, const Shape& shape, const Tensor& x) {
  const auto q = points(attention, "query", x), k = shape.causal ? q : points(attention, "key", x),
             v = by_head(layer(attention, "value", x), kHeads);
  const auto q_like = likeness(attention, q), k_like = likeness(attention, k);
  if (shape.causal && shape.members == "earlier") {
    const auto scores = q.matmul(k.transpose(1, 2)) / std::sqrt(static_cast<double>(q.size(2)));
    return joined_heads(attention, read_seen(scores, v, earlier(shape, q_like)));
  }
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) heads.push_back(chosen(shape, q[h], k[h], v[h], q_like[h], k_like[h]));
  return joined_heads(attention, ablate::stack(heads));
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const auto* assignment : {"kmeans", "random"})
    for (const std::int64_t window : {0, 3}) {
      all.push_back({3, window, false, "earlier", assignment});
      all.push_back({3, window, true, "earlier", assignment});
      all.push_back({3, window, true, "top", assignment});
    }
  return all;
}

std::string text(const Shape& shape) {
  return shape.assignment + ", window " + std::to_string(shape.window) + (shape.causal ? ", causal, " + shape.members : "");
}

/// Runs a training pass and on_step.
void train_once(ablate::Attention& attention, const Tensor& x) {
  attention.train();
  run(attention, {x});
  attention.on_step(1, ablate::make_generator(5));
  attention.eval();
}

}  // namespace

TEST_CASE("routing equals its algorithm, at any length, with gradients") {
  for (const auto& shape : shapes())
    for (const std::int64_t n : {1, 2, 7, 20}) {
      INFO(text(shape) << ", n " << n);
      const auto attention = routing(shape);
      const auto off =
          off_by(*attention, random_tokens(2, n, 2), [&](const Tensor& x) { return expected(*attention, shape, x); });
      CHECK(off.output < 1e-12);
      CHECK(off.gradient < 1e-11);
    }
}

TEST_CASE("routing: cluster sizes depend on an item's own length, and padding is in no cluster") {
  for (const auto& shape : shapes()) {
    INFO(text(shape));
    const auto attention = routing(shape);
    const auto off = off_padded(*attention, random_tokens(5, 20, 2), {20, 11, 4, 1, 0},
                                [&](const Tensor& x) { return expected(*attention, shape, x); });
    CHECK(off.output < 1e-12);
    CHECK(off.gradient < 1e-11);
  }
}

TEST_CASE("routing with one cluster equals softmax over normalised queries and keys") {
  const auto x = random_tokens(1, 13, 2);
  for (const bool causal : {false, true}) {
    const auto attention = routing({.clusters = 1, .causal = causal});
    const auto q = points(*attention, "query", x[0]), k = causal ? q : points(*attention, "key", x[0]),
               v = by_head(layer(*attention, "value", x[0]), kHeads);
    const auto all = ablate::ones({13, 13}, ablate::kBool);
    const auto scores = q.matmul(k.transpose(1, 2)) / std::sqrt(8.0);
    CHECK(distance(run(*attention, {x})[0], joined_heads(*attention, read_seen(scores, v, causal ? all.tril() : all))) < 1e-12);
  }
}

TEST_CASE("routing: a token in no cluster reads 0, and a metric reports the share of such tokens") {
  const auto attention = routing({.clusters = 4, .window = 2});
  const auto x = random_tokens(1, 40, 2);
  const auto result = pass(*attention, {.queries = x, .measure = true});
  REQUIRE(result.metrics.size() == 1);
  CHECK(result.metrics[0].name == "in_no_cluster");
  // 4 clusters of 2 members in 2 heads have room for at most 16 of the 80 queries.
  CHECK(result.metrics[0].value >= 0.8);
  CHECK(result.metrics[0].value < 1);
  const auto nothing = (result.output[0] - parameter(*attention, "output.bias")).abs().amax(1) == 0;
  CHECK(nothing.sum().item<std::int64_t>() >= 40 - 16);
}

TEST_CASE("routing, causal: later tokens change nothing, unlike in the published choice of members") {
  const auto x = random_tokens(1, 40, 2);
  auto other = x.clone();
  other.narrow(1, 20, 20).copy_(random_tokens(1, 20, 7));
  const auto moved = [&](const Shape& shape) {
    const auto attention = routing(shape);
    return distance(run(*attention, {x}).narrow(1, 0, 20), run(*attention, {other}).narrow(1, 0, 20));
  };
  CHECK(moved({.clusters = 4, .causal = true}) < 1e-14);
  CHECK(moved({.clusters = 4, .causal = true, .members = "top"}) > 1e-3);
  // The number of later tokens has no effect, either.
  const auto attention = routing({.clusters = 4, .causal = true});
  CHECK(distance(run(*attention, {x}).narrow(1, 0, 20), run(*attention, {x.narrow(1, 0, 20)})) < 1e-14);
}

TEST_CASE("routing: centroids follow queries and keys, only in on_step, and padding moves no centroid") {
  for (const bool causal : {false, true}) {
    const auto attention = routing({.causal = causal});
    const auto centroids = buffer(*attention, "centroids");
    const auto before = centroids.clone();
    auto x = random_tokens(2, 9, 2);
    const auto mask = mask_of(9, {9, 5});
    x = x.masked_fill(mask.logical_not().unsqueeze(-1), NAN);
    run(*attention, {x, {}, mask});
    CHECK(centroids.equal(before));
    attention->train();
    run(*attention, {x, {}, mask})[0].sum().backward();
    CHECK(centroids.equal(before));
    attention->on_step(1, ablate::make_generator(5));
    attention->eval();
    auto sums = ablate::zeros_like(before).to(ablate::kDouble);
    auto counts = ablate::zeros({kHeads, 3, 1}, ablate::kDouble);
    for (std::int64_t i = 0; i < 2; ++i)
      for (const auto* name : {"query", "key"}) {
        if (causal && name == std::string("key")) continue;
        const auto of = points(*attention, name, x[i].narrow(0, 0, i == 0 ? 9 : 5)).detach();
        const auto nearest = before.to(ablate::kDouble).matmul(of.transpose(1, 2)).argmax(1);
        for (std::int64_t h = 0; h < kHeads; ++h)
          for (std::int64_t t = 0; t < of.size(1); ++t) {
            const auto c = nearest[h][t].item<std::int64_t>();
            sums[h][c] += of[h][t];
            counts[h][c] += 1;
          }
      }
    const auto moved = on_ball(0.9 * before + 0.1 * sums / counts.clamp_min(1));
    CHECK(distance(centroids.to(ablate::kDouble), moved.where(counts > 0, before.to(ablate::kDouble))) < 1e-6);
    CHECK(distance(centroids, before) > 1e-2);
    CHECK(centroids.scalar_type() == ablate::kFloat);  // also in a module in float64: never cast
  }
}

TEST_CASE("routing: the commitment loss is the distance of queries and keys from their centroids, and changes no output") {
  const auto x = random_tokens(2, 9, 2).requires_grad_(), mask = mask_of(9, {9, 5});
  for (const bool causal : {false, true}) {
    INFO("causal " << causal);
    const auto attention = routing({.causal = causal, .commitment = 0.5}), plain = routing({.causal = causal});
    const auto result = pass(*attention, {x, {}, mask}), without = pass(*plain, {x, {}, mask});
    CHECK(result.output.equal(without.output));
    CHECK_FALSE(without.auxiliary_loss.defined());
    const auto centroids = buffer(*attention, "centroids").to(ablate::kDouble);
    // Wrong alternatives: the first centroid for all tokens, and a mean that includes padding.
    const auto loss = [&](bool nearest, double tokens) {
      auto sum = ablate::zeros({}, ablate::kDouble);
      for (std::int64_t i = 0; i < 2; ++i)
        for (const std::string name : {"query", "key"}) {
          if (causal && name == "key") continue;
          const auto of = points(*attention, name.c_str(), x[i].narrow(0, 0, i == 0 ? 9 : 5));
          const auto own = likeness(*attention, of).argmax(1);
          for (std::int64_t h = 0; h < kHeads; ++h)
            for (std::int64_t t = 0; t < of.size(1); ++t)
              sum = sum + (of[h][t] - centroids[h][nearest ? own[h][t].item<std::int64_t>() : 0]).square().mean();
        }
      return sum * (0.5 / (kHeads * tokens * (causal ? 1 : 2)));
    };
    const auto right = loss(true, 14);
    CHECK(distance(result.auxiliary_loss, right) < 1e-13);
    CHECK(distance(right, loss(false, 14)) > 1e-3);
    CHECK(distance(right, loss(true, 18)) > 1e-3);
    CHECK(distance(gradients(*attention, result.auxiliary_loss, {x}), gradients(*attention, right, {x})) < 1e-12);
  }
}

TEST_CASE("routing, random: members are drawn for positions by the seed, independent of the tokens") {
  const Shape shape{.clusters = 3, .assignment = "random"};
  const auto attention = routing(shape);
  const auto x = random_tokens(1, 12, 2);
  const auto zero = [&](ablate::Attention& one, const Tensor& tokens) {
    return (run(one, {tokens})[0] - parameter(one, "output.bias")).abs().amax(1) == 0;
  };
  const auto others = routing(shape, 2);
  CHECK(zero(*attention, x).equal(zero(*attention, random_tokens(1, 12, 9))));
  CHECK_FALSE(buffer(*attention, "draws").equal(buffer(*others, "draws")));
  const auto before = buffer(*attention, "draws").clone();
  train_once(*attention, x);
  CHECK(buffer(*attention, "draws").equal(before));
}

TEST_CASE("routing differs from similar wrong variants") {
  const auto x = random_tokens(1, 20, 2);
  for (const Shape& shape : {Shape{}, Shape{.causal = true}, Shape{.causal = true, .members = "top"}}) {
    INFO(text(shape));
    const auto attention = routing(shape);
    const auto output = run(*attention, {x})[0];
    CHECK(distance(output, expected(*attention, shape, x[0])) < 1e-12);
    auto wrong = shape;
    wrong.window = 3;
    CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-3);
    if (!shape.causal) continue;
    wrong = shape;
    wrong.members = shape.members == "top" ? "earlier" : "top";
    CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-3);
  }
  // A wrong variant chooses the members before it removes padding.
  const auto attention = routing({});
  const auto mask = mask_of(20, {9});
  const auto output = run(*attention, {x, {}, mask})[0].narrow(0, 0, 9);
  CHECK(distance(output, expected(*attention, {}, x[0]).narrow(0, 0, 9)) > 1e-3);
}
