// Image Transformer attention against softmax attention under the rectangles' mask, in values and gradients.
#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

struct Shape {
  bool flat = false, causal = false;
  std::int64_t block_rows = 2, block_columns = 2, memory_rows = 1, memory_columns = 1;  ///< flat: only columns are used
  std::int64_t rows = 4, columns = 5, channels = 1, prefix = 0;
};

std::shared_ptr<ablate::Attention> image_local(const Shape& shape) {
  return make(section("image-local", {{"heads", kHeads},
                                      {"dimensions", shape.flat ? "1d" : "2d"},
                                      {"block", shape.block_columns},
                                      {"memory", shape.memory_columns},
                                      {"block_rows", shape.block_rows},
                                      {"block_columns", shape.block_columns},
                                      {"memory_rows", shape.memory_rows},
                                      {"memory_columns", shape.memory_columns}}),
              1,
              {.prefix = shape.prefix,
               .causal = shape.causal,
               .geometry = {.rows = shape.rows, .columns = shape.columns, .channels = shape.channels}});
}

/// True if b lies in a's block, extended by `before` and `behind`.
bool near(std::int64_t a, std::int64_t b, std::int64_t block, std::int64_t before, std::int64_t behind) {
  const auto first = a / block * block;
  return b >= first - before && b < first + block + behind;
}

/// Returns [n, n] bool: the keys that each query sees.
Tensor pattern(const Shape& shape, std::int64_t n) {
  return pairs(n, [&](std::int64_t i, std::int64_t j) {
    if (shape.causal && j > i) return false;
    i -= shape.prefix;
    j -= shape.prefix;
    if (i < 0 || j < 0) return true;
    const auto behind = shape.causal ? 0 : 1;
    if (shape.flat) return near(i, j, shape.block_columns, shape.memory_columns, behind * shape.memory_columns);
    const auto width = shape.rows > 0 ? shape.columns * shape.channels : n, channels = shape.rows > 0 ? shape.channels : 1;
    const auto aside = shape.memory_columns * channels;
    return near(i / width, j / width, shape.block_rows, shape.memory_rows, behind * shape.memory_rows) &&
           near(i % width, j % width, shape.block_columns * channels, aside, aside);
  });
}

Tensor expected(const ablate::Attention& attention, const Shape& shape, const Tensor& x) {
  return masked(attention, kHeads, x, x, pattern(shape, x.size(0)));
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const bool causal : {false, true})
    for (const std::int64_t prefix : {0, 1}) {
      all.push_back({.causal = causal, .prefix = prefix});
      all.push_back({.causal = causal, .memory_rows = 2, .memory_columns = 0, .columns = 2, .channels = 3, .prefix = prefix});
      all.push_back(
          {.causal = causal, .block_rows = 3, .block_columns = 4, .memory_rows = 0, .memory_columns = 2, .prefix = prefix});
      all.push_back({.flat = true, .causal = causal, .block_columns = 3, .memory_columns = 4, .prefix = prefix});
      all.push_back({.causal = causal, .rows = 0, .prefix = prefix});
    }
  return all;
}

std::string text(const Shape& shape) {
  return std::string(shape.flat ? "1d" : "2d") + (shape.causal ? ", causal" : "") + ", prefix " + std::to_string(shape.prefix) +
         ", channels " + std::to_string(shape.channels) + ", rows " + std::to_string(shape.rows) + ", block " +
         std::to_string(shape.block_rows) + " x " + std::to_string(shape.block_columns);
}

}  // namespace

TEST_CASE("image-local equals softmax attention under its mask, on whole pictures and parts of them, with gradients") {
  for (const auto& shape : shapes())
    for (const std::int64_t n : {1, 2, 7, 20, 21}) {
      if (shape.rows > 0 && n > shape.rows * shape.columns * shape.channels + shape.prefix) continue;
      INFO(text(shape) << ", n " << n);
      const auto attention = image_local(shape);
      const auto off =
          off_by(*attention, random_tokens(2, n, 2), [&](const Tensor& x) { return expected(*attention, shape, x); });
      CHECK(off.output < 1e-12);
      CHECK(off.gradient < 1e-11);
    }
}

TEST_CASE("image-local: a padded item equals the item without its padding, and padding has no effect") {
  for (const auto& shape : shapes()) {
    INFO(text(shape));
    const auto attention = image_local(shape);
    const auto off = off_padded(*attention, random_tokens(5, 20, 2), {20, 11, 4, 1, 0},
                                [&](const Tensor& x) { return expected(*attention, shape, x); });
    CHECK(off.output < 1e-12);
    CHECK(off.gradient < 1e-11);
  }
}

TEST_CASE("image-local differs from similar wrong variants") {
  const Shape shape{.prefix = 1};
  const auto attention = image_local(shape);
  const auto x = random_tokens(1, 21, 2);
  const auto output = run(*attention, {x})[0];
  CHECK(distance(output, expected(*attention, shape, x[0])) < 1e-12);
  // Faults: no class token in front, rows of another length, more or less memory, no later pixels, one dimension.
  for (const Shape& wrong :
       {Shape{.prefix = 0}, Shape{.columns = 4, .prefix = 1}, Shape{.memory_rows = 2, .prefix = 1},
        Shape{.memory_columns = 0, .prefix = 1}, Shape{.causal = true, .prefix = 1}, Shape{.flat = true, .prefix = 1}})
    CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-3);
}
