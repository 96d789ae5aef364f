// Adaptive span against its equations, query by query and key by key, and the effects of its mask and its penalty.
#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

struct Shape {
  std::int64_t span = 12, ramp = 5;
  std::vector<double> z = {2.3, 6.7};  ///< in tokens, one for each head
  bool carries = false;
  double penalty = 2e-6;
};

struct Made {
  std::shared_ptr<ablate::Attention> attention;
  Tensor positions;  ///< shared by all layers, so not a parameter of one layer
};

Made adaptive(const Shape& shape) {
  ablate::SharedTensors shared;
  auto attention = ablate::make_attention(
      ablate::plugin_from_json(section(
          "adaptive-span", {{"heads", kHeads}, {"span", shape.span}, {"ramp", shape.ramp}, {"penalty", shape.penalty}})),
      {.d_model = kChannels, .max_length = kMaxLength, .causal = true, .carries = shape.carries}, find_plugin,
      ablate::make_generator(1), shared);
  in_double(attention);
  auto positions = shared.begin()->second;
  positions.set_data(positions.to(ablate::kDouble));
  positions.requires_grad_();
  const ablate::NoGradGuard none;
  for (std::int64_t h = 0; h < kHeads; ++h)
    parameter(*attention, "spans")[h] = shape.z[static_cast<std::size_t>(h)] / static_cast<double>(shape.span);
  return {attention, positions};
}

/// Variants of expected(). The defaults are correct; any other value is a fault.
struct Wrong {
  std::int64_t farther = 0;  ///< added to the mask's distance
  bool own = false;          ///< true: a token sees itself
  bool positions = true;
};

/// Computes one item by the equation. The queries are the last n tokens of `context` [keys, d_model].
Tensor expected(const Made& made, const Shape& shape, const Tensor& context, std::int64_t n, const Wrong& wrong = {}) {
  const auto& attention = *made.attention;
  const auto q = by_head(layer(attention, "query", context), kHeads), k = by_head(layer(attention, "key", context), kHeads),
             v = by_head(layer(attention, "value", context), kHeads);
  const auto z = parameter(attention, "spans") * static_cast<double>(shape.span);
  const auto keys = context.size(0), rows = made.positions.size(0);
  std::vector<Tensor> read;
  for (std::int64_t h = 0; h < kHeads; ++h)
    for (std::int64_t t = keys - n; t < keys; ++t) {
      auto sum = ablate::zeros({}, ablate::kDouble), values = ablate::zeros({kChannels / kHeads}, ablate::kDouble);
      for (std::int64_t r = std::max<std::int64_t>(0, t - shape.span); r < t + wrong.own; ++r) {
        const auto x = t - r;
        const auto m =
            ((z[h] + static_cast<double>(shape.ramp - x - wrong.farther)) / static_cast<double>(shape.ramp)).clamp(0, 1);
        auto key = k[h][r];
        if (wrong.positions && x > 0) key = key + made.positions[rows - x];
        const auto weight = m * (q[h][t].dot(key) / std::sqrt(static_cast<double>(kChannels / kHeads))).exp();
        sum = sum + weight;
        values = values + weight * v[h][r];
      }
      read.push_back(sum.item<double>() > 0 ? values / sum : values);
    }
  return joined_heads(attention, ablate::stack(read).view({kHeads, n, -1}));
}

double value(const Tensor& x) { return x.item<double>(); }

}  // namespace

TEST_CASE("adaptive-span equals its equations, at any length, with gradients") {
  for (const Shape& shape : {Shape{}, Shape{.span = 40, .ramp = 32, .z = {0.5, 20.5}}, Shape{.span = 3, .z = {0.5, 1.5}},
                             Shape{.span = 9, .ramp = 1, .z = {0.5, 300}}})
    for (const std::int64_t n : {1, 2, 7, 33, 70}) {
      const auto made = adaptive(shape);
      const auto x = random_tokens(2, n, 2).requires_grad_(), weights = random_tokens(2, n, 3);
      const auto output = run(*made.attention, {x});
      const auto right = ablate::stack(std::vector{expected(made, shape, x[0], n), expected(made, shape, x[1], n)});
      INFO("span " << shape.span << ", ramp " << shape.ramp << ", n " << n);
      CHECK(distance(output, right) < 1e-12);
      CHECK(distance(gradients(*made.attention, (output * weights).sum(), {x, made.positions}),
                     gradients(*made.attention, (right * weights).sum(), {x, made.positions})) < 1e-11);
    }
}

TEST_CASE("adaptive-span differs from similar wrong variants") {
  const Shape shape;
  const auto made = adaptive(shape);
  const auto x = random_tokens(1, 30, 2);
  const auto output = run(*made.attention, {x})[0];
  CHECK(distance(output, expected(made, shape, x[0], 30)) < 1e-12);
  for (const Wrong& wrong : {Wrong{.farther = 1}, Wrong{.farther = -1}, Wrong{.own = true}, Wrong{.positions = false}})
    CHECK(distance(output, expected(made, shape, x[0], 30, wrong)) > 1e-3);
}

TEST_CASE("adaptive-span: a padded item equals the item without its padding, and padding has no effect") {
  const Shape shape;
  const auto made = adaptive(shape);
  const auto off = off_padded(*made.attention, random_tokens(5, 40, 2), {40, 23, 4, 1, 0},
                              [&](const Tensor& x) { return expected(made, shape, x, x.size(0)); });
  CHECK(off.output < 1e-12);
  CHECK(off.gradient < 1e-11);
}

TEST_CASE("adaptive-span carries the longest span: segments equal the whole, with a separate state for each item") {
  const Shape shape{.span = 12, .ramp = 5, .z = {2.3, 20}, .carries = true};
  const auto made = adaptive(shape);
  const auto x = random_tokens(2, 41, 2);
  auto state = made.attention->initial_state(2);
  CHECK(state.at(0).size(1) == 12);
  std::int64_t begin = 0;
  for (const std::int64_t end : {1, 6, 26, 41}) {
    const auto segment = pass(*made.attention, {.queries = x.narrow(1, begin, end - begin), .state = state});
    for (std::int64_t item = 0; item < 2; ++item)
      CHECK(distance(segment.output[item], expected(made, shape, x[item].narrow(0, 0, end), end - begin)) < 1e-12);
    state = segment.state;
    begin = end;
  }
  // The memory of an item with a padded segment contains only the item's real tokens.
  const auto first = pass(
      *made.attention, {.queries = x.narrow(1, 0, 9), .mask = mask_of(9, {9, 4}), .state = made.attention->initial_state(2)});
  const auto second = run(*made.attention, {.queries = x.narrow(1, 9, 7), .state = first.state});
  const auto own = ablate::cat({x[1].narrow(0, 0, 4), x[1].narrow(0, 9, 7)});
  CHECK(distance(second[1], expected(made, shape, own, 7)) < 1e-12);
}

TEST_CASE("adaptive-span: a token beyond the span has no effect, whatever its score") {
  // A mask after the softmax, as in the authors' code, would let a far key with a large score take all the weight.
  const Shape shape{.span = 30, .ramp = 4, .z = {3.5, 3.5}};
  const auto made = adaptive(shape);
  auto x = random_tokens(1, 20, 2);
  const auto before = run(*made.attention, {x});
  x.narrow(1, 0, 5).mul_(1e4);
  const auto after = run(*made.attention, {x});
  CHECK(distance(after.narrow(1, 12, 8), before.narrow(1, 12, 8)) == 0);  // 12 - 4 = 8 tokens, more than 3.5 + 4
  CHECK(distance(after.narrow(1, 11, 1), before.narrow(1, 11, 1)) > 1e-3);
  CHECK(distance(before[0][0], parameter(*made.attention, "output.bias")) == 0);  // the first token sees no token
}

TEST_CASE("adaptive-span's penalty is lambda times the mean span of the heads, only in training") {
  const Shape shape{.penalty = 0.5};
  const auto made = adaptive(shape);
  const auto x = random_tokens(1, 6, 2);
  CHECK_FALSE(pass(*made.attention, {x}).auxiliary_loss.defined());
  made.attention->train();
  const auto loss = pass(*made.attention, {x}).auxiliary_loss;
  CHECK(value(loss) == Approx(0.5 * (2.3 + 6.7) / 2));
  const auto found = torch::autograd::grad({loss}, {parameter(*made.attention, "spans")})[0];
  CHECK(distance(found, ablate::full({kHeads}, 0.5 * 12 / 2, ablate::kDouble)) < 1e-12);
  const auto free = adaptive({.penalty = 0});
  free.attention->train();
  CHECK_FALSE(pass(*free.attention, {x}).auxiliary_loss.defined());
}

TEST_CASE("adaptive-span: a span that a step moved below 0 can grow again") {
  // A clamp at 0 would leave the span's mask and penalty without gradient, and the span would stay at 0.
  const Shape below{.z = {-1.5, 4}}, above{.z = {1.5, 4}};
  const auto x = random_tokens(1, 20, 2), weights = random_tokens(1, 20, 3);
  const auto made = adaptive(below), mirrored = adaptive(above);
  const auto output = run(*made.attention, {x}), same = run(*mirrored.attention, {x});
  CHECK(distance(output, same) < 1e-14);
  const auto of = [&](const Made& one, const Tensor& out) {
    return torch::autograd::grad({(out * weights).sum()}, {parameter(*one.attention, "spans")})[0];
  };
  const auto a = of(made, output), b = of(mirrored, same);
  CHECK(std::abs(value(a[0])) > 1e-3);
  CHECK(value(a[0]) == Approx(-value(b[0])));
}

TEST_CASE("adaptive-span starts with short spans, and reports their lengths") {
  const auto spans_at = [](const nlohmann::json& values) {
    return parameter(*make(section("adaptive-span", values), 1, {.causal = true}), "spans");
  };
  CHECK(distance(spans_at({{"span", 8}}) * 8, ablate::full({2}, 0.5, ablate::kDouble)) < 1e-6);
  CHECK(distance(spans_at({{"span", 8}, {"initial_span", 3}}) * 8, ablate::full({2}, 3.5, ablate::kDouble)) < 1e-6);
  CHECK_THROWS_WITH(spans_at({{"span", 8}, {"initial_span", 9}}), "initial_span = 9 is longer than span = 8");
  const auto made = adaptive({});
  const auto found = pass(*made.attention, {.queries = random_tokens(1, 6, 2), .measure = true}).metrics;
  REQUIRE(found.size() == 5);
  CHECK(found[0].name == "mean_span");
  CHECK(found[0].value == Approx(4.5));
  CHECK(found[0].unit == "tokens");
  CHECK(found[1].name == "longest_span");
  CHECK(found[1].value == Approx(6.7));
  // Sums m over distances up to span = 12, as a mean over the heads' spans of 2.3 and 6.7, with a ramp of 5 tokens.
  double window = 0;
  for (const double z : {2.3, 6.7})
    for (int distance = 1; distance <= 12; ++distance) window += std::min(std::max((5 + z - distance) / 5, 0.0), 1.0) / 2;
  CHECK(found[2].name == "effective_window");
  CHECK(found[2].value == Approx(window));
  CHECK(found[2].unit == "tokens");
  CHECK(found[3].name == "span_layer_1_head_1");
  CHECK(found[3].value == Approx(2.3));
  CHECK(found[4].name == "span_layer_1_head_2");
  CHECK(found[4].value == Approx(6.7));
}
