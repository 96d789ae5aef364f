// Reformer attention against its definition: one softmax over all tokens that share a bucket and a chunk in any round. With
// across_buckets, it is enough that tokens share a chunk, and a token counts once for each round in which it shares a chunk.
#include <set>

#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

struct Shape {
  std::int64_t rounds = 2, chunk = 3, buckets = 4;
  bool causal = false;
  std::string members = "earlier";
  bool across = false;
  bool each_round = across;  ///< for the reference only: a token counts once for each round that finds it
};

std::shared_ptr<ablate::Attention> reformer(const Shape& shape, std::uint64_t seed = 1) {
  return make(section("reformer", {{"heads", kHeads},
                                   {"rounds", shape.rounds},
                                   {"chunk", shape.chunk},
                                   {"buckets", shape.buckets},
                                   {"causal_members", shape.members},
                                   {"across_buckets", shape.across}}),
              seed, {.causal = shape.causal});
}

/// Returns argmax([xR; -xR]) of one token, from q [d] and the rotation [d, buckets / 2].
std::int64_t hash(const Tensor& q, const Tensor& rotation) {
  const auto turned = q.detach().matmul(rotation.to(ablate::kDouble));
  return ablate::cat({turned, -turned}).argmax().item<std::int64_t>();
}

/// Returns the tokens that each token of q [n, d] sees in one round, by sorting. Without a rotation there is one bucket.
std::vector<std::set<std::int64_t>> round_of(const Shape& shape, const Tensor& q, const Tensor& rotation) {
  const auto n = q.size(0);
  std::vector<std::pair<std::int64_t, std::int64_t>> sorted;  // bucket, token
  for (std::int64_t i = 0; i < n; ++i) sorted.emplace_back(rotation.defined() ? hash(q[i], rotation) : 0, i);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::set<std::int64_t>> seen(static_cast<std::size_t>(n));
  for (std::int64_t a = 0; a < n; ++a)
    for (std::int64_t b = 0; b < n; ++b) {
      const auto& [own, i] = sorted[static_cast<std::size_t>(a)];
      const auto& [other, j] = sorted[static_cast<std::size_t>(b)];
      if ((own != other && !shape.across) || (shape.causal && j > i)) continue;
      const auto chunks = a / shape.chunk - b / shape.chunk;
      const bool near =
          shape.causal && shape.members == "earlier" ? a - b >= 0 && a - b <= shape.chunk : chunks == 0 || chunks == 1;
      if (near) seen[static_cast<std::size_t>(i)].insert(j);
    }
  return seen;
}

Tensor expected(const ablate::Attention& attention, const Shape& shape, const Tensor& x) {
  const auto q = by_head(layer(attention, "query", x), kHeads), v = by_head(layer(attention, "value", x), kHeads);
  const auto n = x.size(0), d = q.size(2);
  const auto k = q / (q.square().mean(-1, true) + 1e-6).sqrt();
  const auto rotations = buffer(attention, "rotations");
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    std::vector<std::multiset<std::int64_t>> seen(static_cast<std::size_t>(n));
    for (std::int64_t r = 0; r < shape.rounds; ++r) {
      const auto found = round_of(shape, q[h], rotations.defined() ? rotations[h][r] : Tensor());
      for (std::size_t i = 0; i < found.size(); ++i)
        for (const auto j : found[i])
          if (shape.each_round || !seen[i].contains(j)) seen[i].insert(j);
    }
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto& of = seen[static_cast<std::size_t>(i)];
      std::vector<Tensor> scores, values;
      for (const auto j : of) {
        if (j == i && of.size() > of.count(i)) continue;  // a token sees itself only if it sees no other
        scores.push_back((q[h][i] * k[h][j]).sum() / std::sqrt(static_cast<double>(d)));
        values.push_back(v[h][j]);
      }
      rows.push_back(ablate::stack(scores).softmax(0).matmul(ablate::stack(values)));
    }
    heads.push_back(ablate::stack(rows));
  }
  return joined_heads(attention, ablate::stack(heads));
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const std::int64_t rounds : {1, 3})
    for (const std::int64_t buckets : {1, 4}) {
      all.push_back({rounds, 3, buckets, false, "earlier"});
      all.push_back({rounds, 3, buckets, true, "earlier"});
      all.push_back({rounds, 3, buckets, true, "chunks"});
    }
  all.push_back({2, 64, 2, false, "earlier"});
  for (const std::int64_t rounds : {1, 3}) {
    all.push_back({rounds, 3, 4, false, "earlier", true});
    all.push_back({rounds, 3, 4, true, "chunks", true});
  }
  return all;
}

std::string text(const Shape& shape) {
  return std::to_string(shape.rounds) + " rounds, " + std::to_string(shape.buckets) + " buckets" +
         (shape.causal ? ", causal, " + shape.members : "") + (shape.across ? ", across buckets" : "");
}

}  // namespace

TEST_CASE("reformer equals one softmax over the tokens that its rounds find, at any length, with gradients") {
  for (const auto& shape : shapes())
    for (const std::int64_t n : {1, 2, 7, 16}) {
      INFO(text(shape) << ", n " << n);
      const auto attention = reformer(shape);
      const auto off =
          off_by(*attention, random_tokens(2, n, 2), [&](const Tensor& x) { return expected(*attention, shape, x); });
      CHECK(off.output < 1e-11);
      CHECK(off.gradient < 1e-10);
    }
}

TEST_CASE("reformer: padding is in no bucket, and moves no chunk") {
  for (const auto& shape : shapes()) {
    INFO(text(shape));
    const auto attention = reformer(shape);
    const auto off = off_padded(*attention, random_tokens(5, 16, 2), {16, 11, 4, 1, 0},
                                [&](const Tensor& x) { return expected(*attention, shape, x); });
    CHECK(off.output < 1e-11);
    CHECK(off.gradient < 1e-10);
  }
}

TEST_CASE("reformer with one bucket and a chunk of n equals softmax of shared queries and keys without the own token") {
  const auto x = random_tokens(1, 13, 2);
  for (const bool causal : {false, true}) {
    const auto attention = reformer({.rounds = 2, .chunk = 13, .buckets = 1, .causal = causal});
    const auto q = by_head(layer(*attention, "query", x[0]), kHeads), v = by_head(layer(*attention, "value", x[0]), kHeads);
    const auto k = q / (q.square().mean(-1, true) + 1e-6).sqrt();
    auto seen = pairs(13, [&](std::int64_t i, std::int64_t j) { return i != j && (!causal || j < i); });
    if (causal) seen[0][0] = true;  // the first token sees no other token
    const auto scores = q.matmul(k.transpose(1, 2)) / std::sqrt(8.0);
    CHECK(distance(run(*attention, {x})[0], joined_heads(*attention, read_seen(scores, v, seen))) < 1e-11);
  }
}

TEST_CASE("reformer across buckets, in one chunk, equals softmax of shared queries and keys for any hash") {
  const auto x = random_tokens(1, 13, 2);
  for (const bool causal : {false, true}) {
    const auto attention =
        reformer({.rounds = 1, .chunk = 13, .buckets = 8, .causal = causal, .members = "chunks", .across = true});
    const auto q = by_head(layer(*attention, "query", x[0]), kHeads), v = by_head(layer(*attention, "value", x[0]), kHeads);
    const auto k = q / (q.square().mean(-1, true) + 1e-6).sqrt();
    auto seen = pairs(13, [&](std::int64_t i, std::int64_t j) { return i != j && (!causal || j < i); });
    if (causal) seen[0][0] = true;  // the first token sees no other token
    const auto scores = q.matmul(k.transpose(1, 2)) / std::sqrt(8.0);
    CHECK(distance(run(*attention, {x})[0], joined_heads(*attention, read_seen(scores, v, seen))) < 1e-11);
  }
}

TEST_CASE("reformer, causal: later tokens change nothing, unlike in the published chunks") {
  const auto x = random_tokens(1, 40, 2);
  auto other = x.clone();
  other.narrow(1, 20, 20).copy_(random_tokens(1, 20, 7));
  const auto moved = [&](const Shape& shape) {
    const auto attention = reformer(shape);
    return distance(run(*attention, {x}).narrow(1, 0, 20), run(*attention, {other}).narrow(1, 0, 20));
  };
  CHECK(moved({.chunk = 3, .causal = true}) < 1e-14);
  CHECK(moved({.chunk = 3, .causal = true, .members = "chunks"}) > 1e-3);
}

TEST_CASE("reformer: hashes change with each step, not in evaluation, and are never cast") {
  const auto attention = reformer({});
  const auto rotations = buffer(*attention, "rotations");
  const auto x = random_tokens(1, 30, 2);
  const auto before = run(*attention, {x});
  const auto drawn = rotations.clone();
  attention->on_step(1, ablate::make_generator(5));
  CHECK(rotations.equal(drawn));
  attention->train();
  run(*attention, {x});
  CHECK(rotations.equal(drawn));
  attention->on_step(1, ablate::make_generator(5));
  CHECK_FALSE(rotations.equal(drawn));
  CHECK(rotations.scalar_type() == ablate::kFloat);
  attention->eval();
  CHECK(distance(run(*attention, {x}), before) > 1e-3);
  CHECK(distance(expected(*attention, {}, x[0]), run(*attention, {x})[0]) < 1e-11);
}

TEST_CASE("reformer: many buckets use two hashes side by side") {
  const auto attention = make(section("reformer", {{"heads", kHeads}, {"rounds", 1}, {"chunk", 80}, {"buckets", 66}}), 1);
  const auto rotations = buffer(*attention, "rotations");
  CHECK(rotations.size(3) == 5 + 4);  // hashes of 10 and 8 buckets: 80, which is at least 66
  const auto x = random_tokens(1, 60, 2);
  const auto q = by_head(layer(*attention, "query", x[0]), kHeads), v = by_head(layer(*attention, "value", x[0]), kHeads);
  const auto k = q / (q.square().mean(-1, true) + 1e-6).sqrt();
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    const auto both = [&](std::int64_t i) {
      return std::pair{hash(q[h][i], rotations[h][0].narrow(1, 0, 5)), hash(q[h][i], rotations[h][0].narrow(1, 5, 4))};
    };
    auto seen = pairs(60, [&](std::int64_t i, std::int64_t j) { return i != j && both(i) == both(j); });
    const auto alone = seen.any(1).logical_not();
    for (std::int64_t i = 0; i < 60; ++i)
      if (alone[i].item<bool>()) seen[i][i] = true;
    heads.push_back(seen);
  }
  const auto scores = q.matmul(k.transpose(1, 2)) / std::sqrt(8.0);
  CHECK(distance(run(*attention, {x})[0], joined_heads(*attention, read_seen(scores, v, ablate::stack(heads)))) < 1e-11);
}

TEST_CASE("reformer differs from similar wrong variants") {
  const auto x = random_tokens(1, 40, 2);
  const Shape shape{.rounds = 2, .chunk = 4, .buckets = 4};
  const auto attention = reformer(shape);
  const auto output = run(*attention, {x})[0];
  CHECK(distance(output, expected(*attention, shape, x[0])) < 1e-11);
  for (const Shape& wrong : {Shape{.rounds = 1, .chunk = 4, .buckets = 4}, Shape{.rounds = 2, .chunk = 5, .buckets = 4},
                             Shape{.rounds = 2, .chunk = 64, .buckets = 4}, Shape{.rounds = 2, .chunk = 4, .causal = true}})
    CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-3);
  SECTION("across buckets") {
    const Shape across{.rounds = 2, .chunk = 4, .buckets = 4, .across = true};
    const auto wider = reformer(across);
    const auto wide = run(*wider, {x})[0];
    CHECK(distance(wide, expected(*wider, across, x[0])) < 1e-11);
    auto masked = across, once = across, one = across, causal = across;
    masked.across = false, once.each_round = false, one.rounds = 1, causal.causal = true, causal.members = "chunks";
    for (const auto& wrong : {masked, once, one, causal}) CHECK(distance(wide, expected(*wider, wrong, x[0])) > 1e-3);
  }
  SECTION("the first chunk does not look back to the last chunk, or into another round") {
    // The first chunk of the sorted sequence has no chunk before it, so with one bucket its tokens see only the first 4 tokens.
    const Shape one{.rounds = 1, .chunk = 4, .buckets = 1};
    const auto single = reformer(one);
    auto others = x.clone();
    others.narrow(1, 4, 36).copy_(random_tokens(1, 36, 8));
    CHECK(distance(run(*single, {x}).narrow(1, 0, 4), run(*single, {others}).narrow(1, 0, 4)) < 1e-14);
  }
}

TEST_CASE("reformer across buckets has no strictly causal form, and does not promise one") {
  CHECK_THROWS_WITH(reformer({.causal = true, .across = true}), Catch::Contains("does not promise causal attention"));
  CHECK_NOTHROW(reformer({.causal = true, .members = "chunks", .across = true}));
}

TEST_CASE("reformer refuses an odd number of buckets") {
  CHECK_THROWS_WITH(reformer({.buckets = 3}),
                    "buckets = 3: each direction of a hash has two sides; expected 1 or an even number");
}
