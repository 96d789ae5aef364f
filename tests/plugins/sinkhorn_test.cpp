// Sinkhorn attention against its equations written plainly, block by block, in values and gradients.
#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

struct Shape {
  std::int64_t block = 4, iterations = 3;
  bool causal = false;
  double temperature = 0.75;
  bool noisy = false;  ///< adds the noise of the training step to scores
};

std::shared_ptr<ablate::Attention> sinkhorn(const Shape& shape) {
  return make(
      section(
          "sinkhorn",
          {{"heads", kHeads}, {"block", shape.block}, {"iterations", shape.iterations}, {"temperature", shape.temperature}}),
      1, {.causal = shape.causal});
}

/// Returns one head's soft permutation: exponentials of scores [blocks, blocks], divided by sums of rows and columns in turn.
Tensor balanced(const Tensor& scores, const Shape& shape) {
  const auto count = scores.size(0);
  const auto allowed = pairs(count, [&](std::int64_t i, std::int64_t j) { return !shape.causal || j < i; });
  auto p = (scores / shape.temperature).exp() * allowed;
  const auto divided = [](const Tensor& by) { return by + (by == 0); };  // a sum of 0 becomes 1: 0 / 1 is 0
  const auto rows = [&] { p = p / divided(p.sum(1, true)); };
  rows();
  for (std::int64_t i = 0; i < shape.iterations; ++i) {
    p = p / divided(shape.causal ? p.cumsum(0) : p.sum(0, true));
    rows();
  }
  return p;
}

/// Returns the soft permutation of each head: [heads, blocks, blocks].
Tensor orders(const ablate::Attention& attention, const Shape& shape, const Tensor& x) {
  const auto n = x.size(0), count = (n + shape.block - 1) / shape.block;
  std::vector<Tensor> pooled;
  for (std::int64_t b = 0; b < count; ++b) {
    const auto begin = b * shape.block, end = std::min(n, begin + shape.block);
    pooled.push_back(shape.causal ? x.narrow(0, 0, begin + 1).sum(0) : x.narrow(0, begin, end - begin).sum(0));
  }
  const auto scores = layer(attention, "sort", ablate::stack(pooled)).unflatten(1, {kHeads, -1}).narrow(2, 0, count);
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    const auto noise = buffer(attention, "noise")[h].narrow(0, 0, count).narrow(1, 0, count).to(ablate::kDouble);
    heads.push_back(balanced(shape.noisy ? scores.select(1, h) + noise : scores.select(1, h), shape));
  }
  return ablate::stack(heads);
}

Tensor expected(const ablate::Attention& attention, const Shape& shape, const Tensor& x) {
  const auto n = x.size(0), count = (n + shape.block - 1) / shape.block;
  const auto q = by_head(layer(attention, "query", x), kHeads), k = by_head(layer(attention, "key", x), kHeads),
             v = by_head(layer(attention, "value", x), kHeads);
  const auto order = orders(attention, shape, x);
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto own = i / shape.block;
      std::vector<Tensor> weights, values;
      const auto add = [&](const Tensor& key, const Tensor& value, const Tensor& mass) {
        weights.push_back(mass * ((q[h][i] * key).sum() / std::sqrt(static_cast<double>(q.size(2)))).exp());
        values.push_back(value);
      };
      for (auto j = own * shape.block; j < std::min(n, (own + 1) * shape.block); ++j)
        if (!shape.causal || j <= i) add(k[h][j], v[h][j], ablate::ones({}, x.options().requires_grad(false)));
      for (std::int64_t place = 0; place < shape.block; ++place) {
        auto mass = ablate::zeros({}, ablate::kDouble), key = ablate::zeros({q.size(2)}, ablate::kDouble), value = key;
        for (std::int64_t b = 0; b < count; ++b) {
          const auto j = b * shape.block + place;
          if (j >= n || (shape.causal && b >= own)) continue;
          mass = mass + order[h][own][b];
          key = key + order[h][own][b] * k[h][j];
          value = value + order[h][own][b] * v[h][j];
        }
        if (mass.item<double>() > 1e-20) add(key / mass, value / mass, mass);
      }
      const auto all = ablate::stack(weights);
      rows.push_back((all / all.sum()).matmul(ablate::stack(values)));
    }
    heads.push_back(ablate::stack(rows));
  }
  return joined_heads(attention, ablate::stack(heads));
}

constexpr Shape kShapes[] = {
    {}, {.causal = true}, {.block = 3, .iterations = 0}, {.block = 2, .iterations = 7, .causal = true, .temperature = 2}};

}  // namespace

TEST_CASE("sinkhorn equals its equations, at any length, with gradients") {
  for (const auto& shape : kShapes)
    for (const std::int64_t n : {1, 3, 4, 10, 16}) {
      INFO("block " << shape.block << ", causal " << shape.causal << ", n " << n);
      const auto attention = sinkhorn(shape);
      const auto off =
          off_by(*attention, random_tokens(2, n, 2), [&](const Tensor& x) { return expected(*attention, shape, x); });
      CHECK(off.output < 1e-11);
      CHECK(off.gradient < 1e-10);
    }
}

TEST_CASE("sinkhorn: padding is in no block, sorted or not") {
  for (const auto& shape : kShapes) {
    INFO("block " << shape.block << ", causal " << shape.causal);
    const auto attention = sinkhorn(shape);
    const auto off = off_padded(*attention, random_tokens(5, 16, 2), {16, 11, 4, 1, 0},
                                [&](const Tensor& x) { return expected(*attention, shape, x); });
    CHECK(off.output < 1e-11);
    CHECK(off.gradient < 1e-10);
  }
}

TEST_CASE("sinkhorn with one block equals softmax") {
  for (const bool causal : {false, true}) {
    const auto attention = sinkhorn({.block = 13, .causal = causal});
    const auto x = random_tokens(1, 13, 2);
    const auto all = ablate::ones({13, 13}, ablate::kBool);
    CHECK(distance(run(*attention, {x})[0], masked(*attention, kHeads, x[0], x[0], causal ? all.tril() : all)) < 1e-12);
  }
}

TEST_CASE("sinkhorn: sorting is nearly a permutation after some iterations") {
  const auto attention = sinkhorn({.block = 2});
  const auto x = random_tokens(1, 16, 2)[0];
  for (const auto& [iterations, allowed] : {std::pair<std::int64_t, double>{3, 0.5}, {60, 0.02}}) {
    const auto order = orders(*attention, {.block = 2, .iterations = iterations}, x);
    CHECK(distance(order.sum(2), ablate::ones({kHeads, 8}, ablate::kDouble)) < 1e-12);
    CHECK(distance(order.sum(1), ablate::ones({kHeads, 8}, ablate::kDouble)) < allowed);
  }
}

TEST_CASE("sinkhorn: Gumbel noise only in training, new with each step") {
  const auto attention = sinkhorn({.block = 2});
  const auto x = random_tokens(1, 16, 2);
  const auto evaluated = run(*attention, {x});
  attention->train();
  const auto first = run(*attention, {x});
  CHECK(distance(first, evaluated) > 1e-3);
  CHECK(run(*attention, {x}).equal(first));
  CHECK(distance(first[0], expected(*attention, {.block = 2, .noisy = true}, x[0])) < 1e-11);
  const auto noise = buffer(*attention, "noise");
  double sum = 0;
  constexpr int steps = 200;
  for (int step = 1; step <= steps; ++step) {
    attention->on_step(step, ablate::make_generator(static_cast<std::uint64_t>(step)));
    sum += noise.mean().item<double>() / steps;
  }
  CHECK(distance(run(*attention, {x}), first) > 1e-3);
  CHECK(std::abs(sum - 0.5772) < 0.02);  // Euler's constant; 200 * 2 * 40 * 40 numbers of deviation 1.28: error 0.0016
  attention->eval();
  CHECK(run(*attention, {x}).equal(evaluated));
}

TEST_CASE("sinkhorn differs from similar wrong variants") {
  const auto x = random_tokens(1, 16, 2);
  for (const bool causal : {false, true}) {
    const Shape shape{.block = 2, .iterations = 3, .causal = causal};
    const auto attention = sinkhorn(shape);
    const auto output = run(*attention, {x})[0];
    CHECK(distance(output, expected(*attention, shape, x[0])) < 1e-11);
    for (const Shape& wrong :
         {Shape{.block = 2, .iterations = 3, .causal = causal, .temperature = 1},
          Shape{.block = 4, .iterations = 3, .causal = causal}, Shape{.block = 2, .iterations = 2, .causal = causal},
          Shape{.block = 2, .iterations = 3, .causal = !causal}})
      CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-5);
  }
}
