// Big Bird against softmax attention under the mask from its buffer of draws, in values and gradients.
#include <algorithm>
#include <set>

#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

struct Shape {
  std::int64_t block = 3, window = 3, random = 1, global = 2;
};

std::shared_ptr<ablate::Attention> bigbird(const Shape& shape, std::uint64_t seed = 1) {
  return make(section("bigbird", {{"heads", kHeads},
                                  {"block", shape.block},
                                  {"window_blocks", shape.window},
                                  {"random_blocks", shape.random},
                                  {"global_blocks", shape.global}}),
              seed);
}

/// Returns the blocks that a block sees. Each draw selects one block from the list of blocks that are neither near nor global.
std::set<std::int64_t> seen_blocks(const Tensor& draws, const Shape& shape, std::int64_t head, std::int64_t own,
                                   std::int64_t blocks) {
  std::set<std::int64_t> seen;
  if (shape.global > 0) seen.insert(0);
  if (shape.global > 1) seen.insert(blocks - 1);
  for (auto block = own - shape.window / 2; block <= own + shape.window / 2; ++block)
    if (block >= 0 && block < blocks) seen.insert(block);
  std::vector<std::int64_t> left;
  for (std::int64_t block = 0; block < blocks; ++block)
    if (seen.count(block) == 0) left.push_back(block);
  for (std::int64_t i = 0; i < std::min(shape.random, draws.size(2)) && !left.empty(); ++i) {
    const auto at = draws[head][own][i].item<std::int64_t>() % std::ssize(left);
    seen.insert(left[static_cast<std::size_t>(at)]);
    left.erase(left.begin() + at);
  }
  return seen;
}

/// Returns [heads, n, n] bool: the keys that each query sees.
Tensor pattern(const ablate::Attention& attention, const Shape& shape, std::int64_t n) {
  const auto draws = buffer(attention, "draws");
  const auto blocks = (n + shape.block - 1) / shape.block;
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    std::vector<std::set<std::int64_t>> of;
    for (std::int64_t own = 0; own < blocks; ++own) of.push_back(seen_blocks(draws, shape, h, own, blocks));
    heads.push_back(pairs(n, [&](std::int64_t i, std::int64_t j) {
      const auto own = i / shape.block;
      const bool sees_all = (shape.global > 0 && own == 0) || (shape.global > 1 && own == blocks - 1);
      return sees_all || of[static_cast<std::size_t>(own)].count(j / shape.block) > 0;
    }));
  }
  return ablate::stack(heads);
}

Tensor expected(const ablate::Attention& attention, const Shape& shape, const Tensor& x) {
  return masked(attention, kHeads, x, x, pattern(attention, shape, x.size(0)));
}

constexpr Shape kShapes[] = {
    {},
    {.block = 2, .random = 3},
    {.block = 4, .window = 1, .random = 2, .global = 1},
    {.block = 1, .window = 5, .random = 2, .global = 0},
    {.block = 2, .window = 3, .random = 64},
    {.block = 64},
};

}  // namespace

TEST_CASE("bigbird equals softmax attention under its mask, at any length, with gradients") {
  for (const auto& shape : kShapes)
    for (const std::int64_t n : {1, 3, 4, 7, 12, 25, 40}) {
      INFO("block " << shape.block << ", random " << shape.random << ", global " << shape.global << ", n " << n);
      const auto attention = bigbird(shape);
      const auto off =
          off_by(*attention, random_tokens(2, n, 2), [&](const Tensor& x) { return expected(*attention, shape, x); });
      CHECK(off.output < 1e-12);
      CHECK(off.gradient < 1e-11);
    }
}

TEST_CASE("bigbird: random blocks and the last block depend on an item's own length, not on padding") {
  for (const auto& shape : kShapes) {
    const auto attention = bigbird(shape);
    const auto off = off_padded(*attention, random_tokens(6, 40, 2), {40, 29, 12, 4, 1, 0},
                                [&](const Tensor& x) { return expected(*attention, shape, x); });
    INFO("block " << shape.block << ", random " << shape.random << ", global " << shape.global);
    CHECK(off.output < 1e-12);
    CHECK(off.gradient < 1e-11);
  }
}

TEST_CASE("bigbird with all blocks equals softmax") {
  const auto attention = bigbird({.block = 2, .random = 64, .global = 0});
  const auto x = random_tokens(1, 31, 2);
  CHECK(distance(run(*attention, {x})[0], masked(*attention, kHeads, x[0], x[0], ablate::ones({31, 31}, ablate::kBool))) <
        1e-12);
}

TEST_CASE("bigbird draws the requested number of different blocks, neither near nor global, for each head, block and seed") {
  const Shape shape{.block = 1, .random = 3};
  constexpr std::int64_t n = 60;
  const auto attention = bigbird(shape);
  const auto seen = pattern(*attention, shape, n);
  const auto middle = seen.narrow(1, 2, n - 4).sum(2);  // 3 near, 2 global, 3 random; some near blocks are global
  CHECK(middle.min().item<std::int64_t>() >= 7);
  CHECK(middle.max().item<std::int64_t>() == 8);
  CHECK_FALSE(seen[0].equal(seen[1]));
  CHECK_FALSE(pattern(*bigbird(shape, 2), shape, n).equal(seen));
  CHECK(buffer(*attention, "draws").scalar_type() == ablate::kLong);
}

TEST_CASE("bigbird differs from similar wrong variants") {
  const Shape shape{.block = 3, .random = 2};
  const auto attention = bigbird(shape);
  const auto x = random_tokens(1, 40, 2);
  const auto output = run(*attention, {x})[0];
  CHECK(distance(output, expected(*attention, shape, x[0])) < 1e-12);
  for (const Shape& wrong : {Shape{.block = 3, .random = 1}, Shape{.block = 3, .window = 1, .random = 2},
                             Shape{.block = 3, .random = 2, .global = 1}, Shape{.block = 2, .random = 2}})
    CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-3);
  // Faults: dense attention as a silent fallback, and random blocks of another seed.
  CHECK(distance(output, masked(*attention, kHeads, x[0], x[0], ablate::ones({40, 40}, ablate::kBool))) > 1e-3);
  const auto others = pattern(*bigbird(shape, 2), shape, 40);
  CHECK(distance(output, masked(*attention, kHeads, x[0], x[0], others)) > 1e-3);
}

TEST_CASE("bigbird refuses an even number of window blocks") {
  CHECK_THROWS_WITH(bigbird({.window = 2}), "window_blocks = 2 is even: expected an odd number");
}
