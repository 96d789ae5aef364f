// Binary partition against the paper's edges, followed pointer by pointer, and against softmax if each span is one token.
#include <set>

#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

struct Shape {
  std::int64_t nodes = 2, scales = 3;
  std::string spans = "attention";
  bool causal = false;
};

std::shared_ptr<ablate::Attention> partition(const Shape& shape) {
  return make(section("binary-partition",
                      {{"heads", kHeads}, {"nodes", shape.nodes}, {"scales", shape.scales}, {"spans", shape.spans}}),
              1, {.causal = shape.causal});
}

/// Node that a token sees. `number` counts the nodes of one side and level, starting at the token.
struct Edge {
  std::int64_t begin, end;  ///< tokens of the node, up to the sequence's end
  std::int64_t side, level, number;

  auto place(std::int64_t scales) const { return std::tuple(side, std::min(level, scales - 1), number); }
};

/// Returns the edges of token i of n, as in the paper: `nodes` nodes of a level, then `nodes` nodes of the level above. These
/// begin with the parent of the next node. If this parent also contains covered tokens, the next node replaces the parent.
std::vector<Edge> edges(const Shape& shape, std::int64_t i, std::int64_t n) {
  std::vector<Edge> found;
  const auto add = [&](std::int64_t level, std::int64_t node, Edge edge) {
    edge.begin = node << level;
    edge.end = std::min(n, (node + 1) << level);
    if (edge.begin >= 0 && edge.begin < n) found.push_back(edge);
  };
  for (const std::int64_t side : {0, 1}) {
    if (side == 1 && shape.causal) break;
    const std::int64_t step = side == 0 ? -1 : 1;
    auto next = i + step;
    bool overlaps = false;
    for (std::int64_t level = 0; level < 10; ++level) {
      for (std::int64_t number = 0; number < shape.nodes; ++number, next += step)
        if (overlaps && number == 0)
          add(level - 1, 2 * next + (side == 0 ? 0 : 1), {.side = side, .level = level, .number = 0});
        else
          add(level, next, {.side = side, .level = level, .number = number});
      overlaps = (next % 2 == 0) == (side == 0);  // a left child on side 0, or a right child on side 1
      next = next >> 1;
    }
  }
  return found;
}

/// Rows of the relative table: row 0 for a token itself, then a row for each (side, level, number) of any edge, in order.
std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> rows(const Shape& shape) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> places;
  for (std::int64_t i = 0; i < kMaxLength; ++i)
    for (const auto& edge : edges(shape, i, kMaxLength)) places.insert(edge.place(shape.scales));
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> rows;
  std::int64_t row = 1;
  for (const auto& place : places) rows[place] = row++;
  return rows;
}

/// Variants of expected(). The defaults are correct; any other value makes it wrong.
struct Wrong {
  bool positions = true, own = true, other_spans = false;
};

/// Computes one item by the equation, query by query.
Tensor expected(const ablate::Attention& attention, const Shape& shape, const Tensor& x, const Wrong& wrong = {}) {
  const auto n = x.size(0), d = kChannels / kHeads;
  const auto q = by_head(layer(attention, "query", x), kHeads) / std::sqrt(static_cast<double>(d)),
             k = by_head(layer(attention, "key", x), kHeads), v = by_head(layer(attention, "value", x), kHeads);
  const auto relative = parameter(attention, "relative");
  const auto row_of = rows(shape);
  const bool attends = (shape.spans == "attention") != wrong.other_spans;
  std::vector<Tensor> read;
  for (std::int64_t h = 0; h < kHeads; ++h)
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<Tensor> scores, values;
      const auto see = [&](const Tensor& key, const Tensor& value, std::int64_t row) {
        scores.push_back(q[h][i].dot(wrong.positions ? key + relative[row] : key));
        values.push_back(value);
      };
      if (wrong.own) see(k[h][i], v[h][i], 0);
      for (const auto& edge : edges(shape, i, n)) {
        const auto of = [&](const Tensor& all) { return all[h].narrow(0, edge.begin, edge.end - edge.begin); };
        const auto alike = of(k).matmul(of(q).mean(0));
        const auto weights = attends ? alike.softmax(0) : ablate::zeros_like(alike).softmax(0);
        see(weights.matmul(of(k)), weights.matmul(of(v)), row_of.at(edge.place(shape.scales)));
      }
      read.push_back(ablate::stack(scores).softmax(0).matmul(ablate::stack(values)));
    }
  return joined_heads(attention, ablate::stack(read).view({kHeads, n, d}));
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const bool causal : {false, true})
    for (const std::int64_t nodes : {1, 2, 5})
      for (const auto* spans : {"attention", "mean"})
        all.push_back({.nodes = nodes, .scales = nodes == 2 ? 2 : 20, .spans = spans, .causal = causal});
  return all;
}

}  // namespace

TEST_CASE("the paper's edges cover each token once, and causal edges cover no later token") {
  for (const auto& shape : shapes())
    for (const std::int64_t n : {1, 13, 80})
      for (std::int64_t i = 0; i < n; ++i) {
        std::multiset<std::int64_t> covered = {i};
        for (const auto& edge : edges(shape, i, n))
          for (auto j = edge.begin; j < edge.end; ++j) covered.insert(j);
        std::multiset<std::int64_t> all;
        for (std::int64_t j = 0; j < (shape.causal ? i + 1 : n); ++j) all.insert(j);
        REQUIRE(covered == all);
      }
}

TEST_CASE("binary-partition equals attention along the paper's edges, at any length, with gradients") {
  for (const auto& shape : shapes())
    for (const std::int64_t n : {1, 2, 5, 16, 33, 80}) {
      if (n == 80 && (shape.nodes != 2 || shape.spans == "mean")) continue;  // only shapes with many levels and two scales
      INFO("nodes " << shape.nodes << ", " << shape.spans << ", causal " << shape.causal << ", n " << n);
      const auto attention = partition(shape);
      REQUIRE(parameter(*attention, "relative").size(0) == static_cast<std::int64_t>(rows(shape).size()) + 1);
      const auto off =
          off_by(*attention, random_tokens(1, n, 2), [&](const Tensor& x) { return expected(*attention, shape, x); });
      CHECK(off.output < 1e-12);
      CHECK(off.gradient < 1e-11);
    }
}

TEST_CASE("binary-partition: a padded item equals the item without its padding, and padding has no effect") {
  for (const bool causal : {false, true})
    for (const auto* spans : {"attention", "mean"}) {
      const Shape shape{.spans = spans, .causal = causal};
      const auto attention = partition(shape);
      const auto off = off_padded(*attention, random_tokens(6, 37, 2), {37, 21, 16, 4, 1, 0},
                                  [&](const Tensor& x) { return expected(*attention, shape, x); });
      INFO(spans << ", causal " << causal);
      CHECK(off.output < 1e-12);
      CHECK(off.gradient < 1e-11);
    }
}

TEST_CASE("binary-partition differs from similar wrong variants") {
  const Shape shape{.nodes = 2, .scales = 3};
  const auto attention = partition(shape);
  const auto x = random_tokens(1, 40, 2) * 3;
  const auto output = run(*attention, {x})[0];
  CHECK(distance(output, expected(*attention, shape, x[0])) < 1e-12);
  for (const Wrong& wrong : {Wrong{.positions = false}, Wrong{.own = false}, Wrong{.other_spans = true}})
    CHECK(distance(output, expected(*attention, shape, x[0], wrong)) > 1e-3);
  auto left = shape;
  left.causal = true;
  CHECK(distance(output, expected(*attention, left, x[0])) > 1e-3);
}

TEST_CASE("binary-partition with as many nodes as tokens, without relative positions, equals softmax") {
  for (const bool causal : {false, true}) {
    const auto attention = partition({.nodes = kMaxLength, .causal = causal});
    const auto softmax = make(section("softmax", {{"heads", kHeads}}), 2, {.causal = causal});
    const ablate::NoGradGuard none;
    parameter(*attention, "relative").zero_();
    for (auto& entry : softmax->parameters()) entry.tensor.copy_(parameter(*attention, entry.name));
    const auto x = random_tokens(2, 50, 2);
    CHECK(distance(run(*attention, {x}), run(*softmax, {x})) < 1e-12);
  }
}

TEST_CASE("binary-partition: holes are in no span") {
  const auto attention = partition({});
  auto x = random_tokens(1, 33, 2);
  auto mask = mask_of(33, {33});
  for (const std::int64_t hole : {0, 5, 12, 13, 14, 15, 32}) mask[0][hole] = false;
  const auto output = run(*attention, {x, {}, mask});
  const auto dirty = x.masked_fill(mask.logical_not().unsqueeze(-1), NAN);
  const auto real = mask.unsqueeze(-1);
  CHECK(distance(run(*attention, {dirty, {}, mask}).masked_select(real), output.masked_select(real)) == 0);
  // If all tokens are alike, holes change nothing: the result is an average.
  const auto alike = x.narrow(1, 1, 1).expand({-1, 33, -1}).contiguous();
  const auto one = run(*attention, {x.narrow(1, 1, 1)});
  CHECK(distance(run(*attention, {alike, {}, mask}).masked_select(real), one.expand({-1, 33, -1}).masked_select(real)) < 1e-12);
}
