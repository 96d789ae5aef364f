// Sparse Transformer attention against softmax attention under the paper's index sets, in values and gradients.
#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 4;

struct Shape {
  std::string pattern = "strided", arrangement = "by-head";
  std::int64_t stride = 3, summary = 1;
  bool causal = true;
  std::int64_t layer = 0;
};

std::shared_ptr<ablate::Attention> sparse(const Shape& shape) {
  return make(section("sparse", {{"heads", kHeads},
                                 {"pattern", shape.pattern},
                                 {"stride", shape.stride},
                                 {"summary", shape.summary},
                                 {"arrangement", shape.arrangement}}),
              1, {.layer = shape.layer, .layers = 2, .causal = shape.causal});
}

/// True if j is in i's index set A^(1) (near) or A^(2) (far), section 4.2. `number`: the head's index among the far heads.
bool near(const Shape& shape, std::int64_t i, std::int64_t j) {
  if (shape.causal && j > i) return false;
  return shape.pattern == "fixed" ? i / shape.stride == j / shape.stride : std::abs(i - j) <= shape.stride;
}
bool far(const Shape& shape, std::int64_t i, std::int64_t j, std::int64_t number) {
  if (shape.causal && j > i) return false;
  if (shape.pattern == "strided") return (i - j) % shape.stride == 0;
  const auto end = shape.stride - number % (shape.stride / shape.summary) * shape.summary;
  return j % shape.stride < end && j % shape.stride >= end - shape.summary;
}

/// Returns the mask [heads, n, n]: true if the query sees the key.
Tensor pattern(const Shape& shape, std::int64_t n) {
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h)
    heads.push_back(pairs(n, [&](std::int64_t i, std::int64_t j) {
      if (shape.arrangement == "merged") return near(shape, i, j) || far(shape, i, j, h);
      if (shape.arrangement == "by-layer") return shape.layer % 2 == 0 ? near(shape, i, j) : far(shape, i, j, h);
      return h < kHeads / 2 ? near(shape, i, j) : far(shape, i, j, h - kHeads / 2);
    }));
  return ablate::stack(heads);
}

Tensor expected(const ablate::Attention& attention, const Shape& shape, const Tensor& x) {
  return masked(attention, kHeads, x, x, pattern(shape, x.size(0)));
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const auto* pattern : {"strided", "fixed"})
    for (const auto* arrangement : {"by-head", "merged", "by-layer"})
      for (const bool causal : {true, false})
        for (const std::int64_t stride : {1, 3, 5})
          all.push_back({pattern, arrangement, stride, std::min<std::int64_t>(stride, 2), causal, 1});
  return all;
}

std::string text(const Shape& shape) {
  return shape.pattern + ", " + shape.arrangement + ", stride " + std::to_string(shape.stride) +
         (shape.causal ? ", causal" : "");
}

}  // namespace

TEST_CASE("sparse equals softmax attention under its mask, at any length, with gradients") {
  for (const auto& shape : shapes())
    for (const std::int64_t n : {1, 3, 4, 10, 17}) {
      INFO(text(shape) << ", n " << n);
      const auto attention = sparse(shape);
      const auto off =
          off_by(*attention, random_tokens(2, n, 2), [&](const Tensor& x) { return expected(*attention, shape, x); });
      CHECK(off.output < 1e-12);
      CHECK(off.gradient < 1e-11);
    }
}

TEST_CASE("sparse: a padded item equals the item without its padding, and padding has no effect") {
  for (const auto& shape : shapes()) {
    INFO(text(shape));
    const auto attention = sparse(shape);
    const auto off = off_padded(*attention, random_tokens(5, 17, 2), {17, 11, 5, 1, 0},
                                [&](const Tensor& x) { return expected(*attention, shape, x); });
    CHECK(off.output < 1e-12);
    CHECK(off.gradient < 1e-11);
  }
}

TEST_CASE("sparse: layers alternate; the stride is a picture's row, or the square root of the longest sequence") {
  const Shape lower{"strided", "by-layer", 3, 1, true, 0};
  const auto attention = sparse(lower);
  const auto x = random_tokens(1, 17, 2);
  CHECK(distance(run(*attention, {x})[0], expected(*attention, lower, x[0])) < 1e-12);
  Shape root{"strided", "by-head", 0};
  const auto of_80 = sparse(root);
  root.stride = 9;
  CHECK(distance(run(*of_80, {x})[0], expected(*of_80, root, x[0])) < 1e-12);
  root.stride = 6;
  const auto of_picture =
      make(section("sparse", {{"heads", kHeads}}), 1, {.causal = true, .geometry = {.rows = 4, .columns = 2, .channels = 3}});
  CHECK(distance(run(*of_picture, {x})[0], expected(*of_picture, root, x[0])) < 1e-12);
}

TEST_CASE("sparse differs from similar wrong variants") {
  const auto x = random_tokens(1, 23, 2);
  for (const Shape& shape : {Shape{"strided", "by-head", 4}, Shape{"fixed", "by-head", 4}, Shape{"strided", "merged", 4},
                             Shape{"fixed", "merged", 4}}) {
    INFO(text(shape));
    const auto attention = sparse(shape);
    const auto output = run(*attention, {x})[0];
    CHECK(distance(output, expected(*attention, shape, x[0])) < 1e-12);
    auto wrong = shape;
    wrong.stride = 5;
    CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-3);
    wrong = shape;
    wrong.pattern = shape.pattern == "fixed" ? "strided" : "fixed";
    CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-3);
    wrong = shape;
    wrong.arrangement = shape.arrangement == "merged" ? "by-head" : "merged";
    CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-3);
    wrong = shape;
    wrong.causal = false;
    CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-3);
    if (shape.pattern == "strided") continue;
    wrong = shape;
    wrong.summary = 2;
    CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-3);
  }
}

TEST_CASE("sparse refuses one head for two patterns") {
  CHECK_THROWS_WITH(make(section("sparse", {{"heads", 1}})),
                    "heads = 1 cannot be near and far: set arrangement to merged or by-layer, or more heads");
}
