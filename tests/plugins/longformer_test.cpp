// Longformer against softmax attention under explicit masks, in values and gradients.
#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 4;

struct Shape {
  std::int64_t window = 4, dilation = 1, dilated_heads = 0, global = 0;
  bool causal = false;
};

std::shared_ptr<ablate::Attention> longformer(const Shape& shape, ablate::AttentionPlace place = {}) {
  place.causal = shape.causal;
  return make(section("longformer", {{"heads", kHeads},
                                     {"window", shape.window},
                                     {"dilation", shape.dilation},
                                     {"dilated_heads", shape.dilated_heads},
                                     {"global_tokens", shape.global}}),
              1, place);
}

/// Returns [heads, n, offset + n] bool: the window of each head, and the columns of global tokens.
Tensor windows(const Shape& shape, std::int64_t n, std::int64_t offset = 0) {
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    const auto step = h < kHeads - shape.dilated_heads ? 1 : shape.dilation;
    const auto before = (shape.causal ? shape.window : shape.window / 2) * step, behind = shape.causal ? 0 : before;
    heads.push_back(pairs(
        n,
        [&](std::int64_t i, std::int64_t j) {
          const auto ahead = j - i;
          return (ahead % step == 0 && ahead >= -before && ahead <= behind) || (j >= 0 && j < shape.global);
        },
        offset));
  }
  return ablate::stack(heads);
}

/// Computes one item by the equation. Rows of global tokens use the global projections over all tokens.
Tensor expected(const ablate::Attention& attention, const Shape& shape, const Tensor& x) {
  const auto n = x.size(0), global = std::min(shape.global, n);
  auto values = masked_heads(attention, kHeads, x, x, windows(shape, n));
  if (global > 0) {
    const auto all = ablate::ones({global, n}, ablate::kBool);
    const auto rows = masked_heads(attention, kHeads, x.narrow(0, 0, global), x, all, "global_");
    values = ablate::cat({rows, values.narrow(1, global, n - global)}, 1);
  }
  return joined_heads(attention, values);
}

/// Changes the global projections. They start as copies of the window's projections, which would hide a mix-up.
void unlike(const ablate::Attention& attention) {
  ablate::NoGradGuard none;
  std::uint64_t seed = 50;
  for (const auto& entry : attention.parameters())
    if (entry.name.starts_with("global_")) entry.tensor.add_(normal(entry.tensor.sizes(), seed++) * 0.3);
}

constexpr Shape kShapes[] = {
    {.window = 4},
    {.window = 2, .causal = true},
    {.window = 64},
    {.window = 4, .dilation = 3, .dilated_heads = 2},
    {.window = 2, .dilation = 2, .dilated_heads = 4, .causal = true},
    {.window = 4, .global = 2},
    {.window = 4, .dilation = 2, .dilated_heads = 1, .global = 5},
};

}  // namespace

TEST_CASE("longformer equals softmax attention under its mask, at any length, with gradients") {
  for (const auto& shape : kShapes)
    for (const std::int64_t n : {1, 2, 5, 8, 13, 31}) {
      INFO("window " << shape.window << ", dilation " << shape.dilation << ", global " << shape.global << ", n " << n);
      const auto attention = longformer(shape);
      unlike(*attention);
      const auto off =
          off_by(*attention, random_tokens(2, n, 2), [&](const Tensor& x) { return expected(*attention, shape, x); });
      CHECK(off.output < 1e-12);
      CHECK(off.gradient < 1e-11);
    }
}

TEST_CASE("longformer: a padded item equals the item without its padding, and padding has no effect") {
  for (const auto& shape : kShapes) {
    const auto attention = longformer(shape);
    unlike(*attention);
    const auto off = off_padded(*attention, random_tokens(5, 14, 2), {14, 9, 4, 1, 0},
                                [&](const Tensor& x) { return expected(*attention, shape, x); });
    INFO("window " << shape.window << ", dilation " << shape.dilation << ", global " << shape.global);
    CHECK(off.output < 1e-12);
    CHECK(off.gradient < 1e-11);
  }
}

TEST_CASE("longformer: an item without tokens reads 0, also for a global token") {
  const auto attention = longformer({.global = 2});
  const auto output = run(*attention, {random_tokens(2, 7, 2), {}, mask_of(7, {0, 7})});
  CHECK(distance(output[0], parameter(*attention, "output.bias").expand({7, kChannels})) < 1e-15);
}

TEST_CASE("longformer differs from similar wrong variants") {
  const Shape shape{.window = 4, .dilation = 2, .dilated_heads = 2, .global = 2};
  const auto attention = longformer(shape);
  unlike(*attention);
  const auto x = random_tokens(1, 17, 2);
  const auto output = run(*attention, {x})[0];
  CHECK(distance(output, expected(*attention, shape, x[0])) < 1e-12);
  for (const Shape& wrong : {Shape{.window = 6, .dilation = 2, .dilated_heads = 2, .global = 2},
                             Shape{.window = 4, .dilation = 1, .dilated_heads = 2, .global = 2},
                             Shape{.window = 4, .dilation = 2, .dilated_heads = 3, .global = 2},
                             Shape{.window = 4, .dilation = 2, .dilated_heads = 2, .global = 1}})
    CHECK(distance(output, expected(*attention, wrong, x[0])) > 1e-3);
  SECTION("global tokens with the window's projections") {
    const auto same = longformer(shape);  // has its initial projections
    CHECK(distance(output, expected(*same, shape, x[0])) > 1e-3);
  }
  SECTION("a global token within a window counts once") {
    const auto twice = [&](const Tensor& seen) { return seen.to(ablate::kDouble).narrow(2, 0, 2); };
    const auto seen = windows(shape, 17), band = windows({.window = 4, .dilation = 2, .dilated_heads = 2}, 17);
    auto counts = seen.to(ablate::kDouble);
    counts.narrow(2, 0, 2) += twice(band);
    const auto q = by_head(layer(*attention, "query", x[0]), kHeads), k = by_head(layer(*attention, "key", x[0]), kHeads),
               v = by_head(layer(*attention, "value", x[0]), kHeads);
    const auto weights = (q.matmul(k.transpose(-1, -2)) / 2).exp() * counts;
    const auto wrong = joined_heads(*attention, weights.matmul(v) / weights.sum(-1, true));
    CHECK(distance(output.narrow(0, 2, 15), wrong.narrow(0, 2, 15)) > 1e-3);
  }
}

TEST_CASE("longformer's global projections start as copies of the window's projections, and are trained separately") {
  const auto attention = longformer({.global = 2});
  for (const std::string name : {"query", "key", "value"})
    for (const std::string part : {".weight", ".bias"}) {
      const auto of_window = parameter(*attention, name + part), global = parameter(*attention, "global_" + name + part);
      INFO(name << part);
      CHECK(of_window.equal(global));
      CHECK(of_window.data_ptr() != global.data_ptr());
    }
}

TEST_CASE("longformer carries the tokens of its widest window: causal segments equal the whole") {
  for (const Shape& shape :
       {Shape{.window = 4, .causal = true}, Shape{.window = 2, .dilation = 3, .dilated_heads = 2, .causal = true}}) {
    const auto attention = longformer(shape, {.carries = true});
    const auto x = random_tokens(2, 29, 2);
    const auto whole = run(*longformer(shape), {x});
    auto state = attention->initial_state(2);
    std::int64_t begin = 0;
    for (const std::int64_t end : {5, 6, 18, 29}) {
      const auto segment = pass(*attention, {.queries = x.narrow(1, begin, end - begin), .state = state});
      INFO("dilation " << shape.dilation << ", segment that ends at " << end);
      CHECK(distance(segment.output, whole.narrow(1, begin, end - begin)) < 1e-12);
      state = segment.state;
      begin = end;
    }
  }
}

TEST_CASE("longformer: a bidirectional segment sees the memory before it") {
  const Shape shape{.window = 6};
  const auto attention = longformer(shape, {.carries = true});
  const auto x = random_tokens(1, 20, 2);
  const auto first = pass(*attention, {.queries = x.narrow(1, 0, 9), .state = attention->initial_state(1)});
  const auto second = run(*attention, {.queries = x.narrow(1, 9, 11), .state = first.state});
  const auto seen = windows(shape, 11, 3);
  CHECK(distance(second[0], masked(*attention, kHeads, x[0].narrow(0, 9, 11), x[0].narrow(0, 6, 14), seen)) < 1e-12);
}

TEST_CASE("longformer: a class token is global; windows grow by layer") {
  const Shape shape{.window = 2}, with_class{.window = 2, .global = 1};
  const auto attention = longformer(shape, {.prefix = 1});
  const auto x = random_tokens(1, 12, 2);
  CHECK(distance(run(*attention, {x})[0], expected(*attention, with_class, x[0])) < 1e-12);
  const auto at = [&](std::int64_t layer) {
    return make(section("longformer", {{"heads", kHeads}, {"window", 2}, {"top_window", 10}}), 1,
                {.layer = layer, .layers = 5});
  };
  for (const std::int64_t layer : {0, 1, 4}) {
    const auto one = at(layer);
    INFO("layer " << layer);
    CHECK(distance(run(*one, {x})[0], expected(*one, {.window = 2 + 2 * layer}, x[0])) < 1e-12);
  }
}

TEST_CASE("longformer refuses odd windows, and more dilated heads than there are heads") {
  const auto make_with = [](const nlohmann::json& values) { return make(section("longformer", values)); };
  CHECK_THROWS_WITH(make_with({{"window", 5}}), "window = 5 is odd: expected an even number");
  CHECK_THROWS_WITH(make_with({{"heads", 2}, {"dilation", 2}, {"dilated_heads", 3}}),
                    "dilated_heads = 3, expected at most heads = 2");
}
