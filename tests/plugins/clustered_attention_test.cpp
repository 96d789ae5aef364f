// Clustered attention against its definition, cluster by cluster and query by query, in values and gradients.
#include <algorithm>

#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

struct Shape {
  std::int64_t clusters = 3, bits = 24, iterations = 4, top = 0;
};

std::shared_ptr<ablate::Attention> clustered(const Shape& shape, std::uint64_t seed = 1, ablate::AttentionPlace place = {}) {
  return make(section("clustered-attention", {{"heads", kHeads},
                                              {"clusters", shape.clusters},
                                              {"bits", shape.bits},
                                              {"iterations", shape.iterations},
                                              {"top", shape.top}}),
              seed, place);
}

using Bits = std::vector<bool>;

std::int64_t differing(const Bits& a, const Bits& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

/// Returns the side of each plane on which a query lies.
/// @param planes [d + 1, bits]; the last row has the distances from the origin
Bits hash(const Tensor& q, const Tensor& planes) {
  const auto d = q.size(0);
  const auto side = q.detach().matmul(planes.narrow(0, 0, d)) + planes[d];
  Bits bits;
  for (std::int64_t b = 0; b < side.size(0); ++b) bits.push_back(side[b].item<double>() > 0);
  return bits;
}

/// Returns the cluster of each query of one head, q [n, d], by k-means. The distance is the number of different bits.
std::vector<std::int64_t> groups(const Shape& shape, const Tensor& q, const Tensor& planes) {
  const auto n = q.size(0), count = std::min(shape.clusters, n);
  std::vector<Bits> hashes, centres;
  for (std::int64_t i = 0; i < n; ++i) hashes.push_back(hash(q[i], planes));
  for (std::int64_t j = 0; j < count; ++j) centres.push_back(hashes[static_cast<std::size_t>(j * n / count)]);
  std::vector<std::int64_t> of(static_cast<std::size_t>(n));
  for (std::int64_t step = 0; step < shape.iterations; ++step) {
    if (step > 0)
      for (std::size_t j = 0; j < centres.size(); ++j)
        for (std::size_t b = 0; b < centres[j].size(); ++b) {
          std::int64_t more = 0;
          for (std::size_t i = 0; i < of.size(); ++i)
            if (of[i] == static_cast<std::int64_t>(j)) more += hashes[i][b] ? 1 : -1;
          if (more != 0) centres[j][b] = more > 0;
        }
    for (std::size_t i = 0; i < of.size(); ++i) {
      std::size_t best = 0;
      for (std::size_t j = 1; j < centres.size(); ++j)
        if (differing(hashes[i], centres[j]) < differing(hashes[i], centres[best])) best = j;
      of[i] = static_cast<std::int64_t>(best);
    }
  }
  return of;
}

/// Computes one head by the equation, from q [n, d] and k, v [keys, d].
Tensor read_head(const Shape& shape, const Tensor& planes, const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto of = groups(shape, q, planes);
  const auto scale = std::sqrt(static_cast<double>(q.size(1)));
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < of.size(); ++i) {
    std::vector<Tensor> members;
    for (std::size_t j = 0; j < of.size(); ++j)
      if (of[j] == of[i]) members.push_back(q[static_cast<std::int64_t>(j)]);
    const auto weights = k.matmul(ablate::stack(members).mean(0) / scale).softmax(0);
    if (shape.top == 0) {
      rows.push_back(weights.matmul(v));
      continue;
    }
    const auto likest = std::get<1>(weights.detach().sort(0, true)).narrow(0, 0, std::min(shape.top, k.size(0)));
    const auto exact = k.index_select(0, likest).matmul(q[static_cast<std::int64_t>(i)] / scale).softmax(0);
    const auto mass = weights.index_select(0, likest).sum();
    auto own = weights * ablate::ones({k.size(0)}, k.options().requires_grad(false)).index_fill(0, likest, 0);
    own = own.index_add(0, likest, exact * mass);
    rows.push_back(own.matmul(v));
  }
  return ablate::stack(rows);
}

/// Computes one item by the equation, from queries [n, d_model] and context [keys, d_model].
Tensor expected(const ablate::Attention& attention, const Shape& shape, const Tensor& queries, const Tensor& context) {
  const auto q = by_head(layer(attention, "query", queries), kHeads), k = by_head(layer(attention, "key", context), kHeads),
             v = by_head(layer(attention, "value", context), kHeads);
  const auto planes = buffer(attention, "planes").to(ablate::kDouble);
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) heads.push_back(read_head(shape, planes[h], q[h], k[h], v[h]));
  return joined_heads(attention, ablate::stack(heads));
}

std::vector<Shape> shapes() {
  return {{3, 24, 4, 0}, {3, 24, 4, 5}, {1, 5, 1, 2}, {7, 63, 10, 1}, {7, 2, 3, 4}, {80, 63, 10, 0}, {80, 8, 2, 80}};
}

std::string text(const Shape& shape) {
  return std::to_string(shape.clusters) + " clusters, " + std::to_string(shape.bits) + " bits, " +
         std::to_string(shape.iterations) + " steps, top " + std::to_string(shape.top);
}

Tensor softmax(const ablate::Attention& attention, const Tensor& x) {
  return masked(attention, kHeads, x, x, ablate::ones({x.size(0), x.size(0)}, ablate::kBool));
}

}  // namespace

TEST_CASE("clustered attention equals its definition, at any length, with gradients through the means of queries") {
  for (const auto& shape : shapes())
    for (const std::int64_t n : {1, 2, 7, 70}) {
      INFO(text(shape) << ", n " << n);
      const auto attention = clustered(shape);
      const auto off =
          off_by(*attention, random_tokens(2, n, 2), [&](const Tensor& x) { return expected(*attention, shape, x, x); });
      CHECK(off.output < 1e-12);
      CHECK(off.gradient < 1e-10);
    }
}

TEST_CASE("clustered attention: clusters contain only an item's own tokens, and start only from its own queries") {
  for (const auto& shape : shapes()) {
    INFO(text(shape));
    const auto attention = clustered(shape);
    const auto off = off_padded(*attention, random_tokens(5, 20, 2), {20, 11, 4, 1, 0},
                                [&](const Tensor& x) { return expected(*attention, shape, x, x); });
    CHECK(off.output < 1e-12);
    CHECK(off.gradient < 1e-10);
  }
}

TEST_CASE("clustered attention over another sequence: masked queries are in no cluster") {
  const Shape shape{.clusters = 3, .top = 4};
  const auto attention = clustered(shape);
  const auto queries = random_tokens(2, 12, 2), context = random_tokens(2, 17, 3);
  const auto query_mask = mask_of(12, {12, 5}), mask = mask_of(17, {9, 17});
  const auto output =
      attention->forward({.queries = queries, .context = context, .mask = mask, .query_mask = query_mask}).output;
  CHECK(distance(output[0], expected(*attention, shape, queries[0], context[0].narrow(0, 0, 9))) < 1e-12);
  CHECK(distance(output[1].narrow(0, 0, 5), expected(*attention, shape, queries[1].narrow(0, 0, 5), context[1])) < 1e-12);
}

TEST_CASE("clustered attention with as many clusters as distinct queries equals softmax") {
  const auto attention = clustered({.clusters = 20, .bits = 256, .iterations = 10});
  const auto off = off_by(*attention, random_tokens(2, 20, 2), [&](const Tensor& x) { return softmax(*attention, x); });
  CHECK(off.output < 1e-12);
  CHECK(off.gradient < 1e-11);
  // Five queries, three times each, and five clusters.
  const auto few = clustered({.clusters = 5, .bits = 256, .iterations = 10});
  const auto five = random_tokens(1, 5, 2), x = ablate::cat({five, five, five}, 1);
  CHECK(distance(run(*few, {x})[0], softmax(*few, x[0])) < 1e-12);
  const auto too_few = clustered({.clusters = 4, .bits = 256, .iterations = 10});
  CHECK(distance(run(*too_few, {x})[0], softmax(*too_few, x[0])) > 1e-3);
}

TEST_CASE("improved clustered attention with k = n equals softmax, for any clusters") {
  for (const std::int64_t clusters : {1, 3, 50}) {
    INFO(clusters << " clusters");
    const auto attention = clustered({.clusters = clusters, .bits = 4, .top = 40});
    const auto off =
        off_padded(*attention, random_tokens(3, 40, 2), {40, 33, 1}, [&](const Tensor& x) { return softmax(*attention, x); });
    CHECK(off.output < 1e-12);
    CHECK(off.gradient < 1e-11);
  }
}

TEST_CASE("clustered attention approaches softmax with more clusters and with more exact keys") {
  const auto x = random_tokens(1, 80, 2);
  const auto off = [&](const Shape& shape) {
    double sum = 0;
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      const auto attention = clustered(shape, seed);
      auto query = parameter(*attention, "query.weight");
      const ablate::NoGradGuard none;
      query.mul_(4);  // makes the weights of keys differ more
      sum += (run(*attention, {x})[0] - softmax(*attention, x[0])).square().sum().item<double>();
    }
    return sum;
  };
  const double one = off({.clusters = 1, .bits = 63}), few = off({.clusters = 8, .bits = 63}),
               many = off({.clusters = 40, .bits = 63});
  CHECK(few < 0.9 * one);
  CHECK(many < 0.7 * few);
  const double some = off({.clusters = 8, .bits = 63, .top = 8}), more = off({.clusters = 8, .bits = 63, .top = 40});
  CHECK(some < 0.7 * few);
  CHECK(more < 0.5 * some);
}

TEST_CASE("clustered attention: hashes change with each step, not in evaluation, and are never cast") {
  const auto attention = clustered({});
  const auto planes = buffer(*attention, "planes");
  const auto x = random_tokens(1, 30, 2);
  const auto before = run(*attention, {x});
  const auto drawn = planes.clone();
  attention->on_step(1, ablate::make_generator(5));
  CHECK(planes.equal(drawn));
  attention->train();
  run(*attention, {x});
  CHECK(planes.equal(drawn));
  attention->on_step(1, ablate::make_generator(5));
  CHECK_FALSE(planes.equal(drawn));
  CHECK(planes.scalar_type() == ablate::kFloat);
  attention->eval();
  CHECK(distance(run(*attention, {x}), before) > 1e-3);
  CHECK(distance(expected(*attention, {}, x[0], x[0]), run(*attention, {x})[0]) < 1e-12);
}

TEST_CASE("improved clustered attention drops exact and other weights by a key's position, not by its rank") {
  // A draw belongs to a key's position, not to the rank of its score, so that a small change of a score keeps the draws.
  const auto attention = clustered({.clusters = 2, .top = 12}, 1, {.dropout = 0.5});
  attention->train();
  const auto x = random_tokens(1, 12, 2);
  auto weight = parameter(*attention, "key.weight");
  const auto before = run(*attention, {x});
  CHECK(distance(before, run(*attention, {x})) == 0);
  const ablate::NoGradGuard none;
  const auto kept = weight.clone(), direction = normal(weight.sizes(), 4);
  double worst = 0;
  for (int step = 0; step < 200; ++step) {  // outputs change smoothly, although the ranking of keys changes
    const auto last = run(*attention, {x});
    weight.copy_(kept + 0.0005 * step * direction);
    worst = std::max(worst, distance(run(*attention, {x}), last));
  }
  CHECK(worst < 0.02);
}

TEST_CASE("clustered attention differs from similar wrong variants") {
  const auto x = random_tokens(1, 40, 2);
  const Shape shape{.clusters = 6, .bits = 16, .iterations = 4, .top = 5};
  const auto attention = clustered(shape);
  const auto output = run(*attention, {x})[0];
  CHECK(distance(output, expected(*attention, shape, x[0], x[0])) < 1e-12);
  for (const Shape& wrong : {Shape{5, 16, 4, 5}, Shape{6, 16, 1, 5}, Shape{6, 16, 4, 0}, Shape{6, 16, 4, 6}})
    CHECK(distance(output, expected(*attention, wrong, x[0], x[0])) > 1e-4);
  // Fault: padding counts, in clusters and among the queries that clusters start from.
  const auto padded = run(*attention, {x, {}, mask_of(40, {19})})[0].narrow(0, 0, 19);
  CHECK(distance(padded, output.narrow(0, 0, 19)) > 1e-3);
}
