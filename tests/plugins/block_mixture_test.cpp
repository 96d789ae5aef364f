// Mixture of block attention against its equation, one query at a time.
#include <algorithm>

#include "ablate/blocks.h"
#include "tests/plugins/equations.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

/// Faults: the least similar block, one choice for all heads, no token of the own block.
enum class Wrong { kNothing, kLeast, kAllHeads, kNotOwn };

/// Computes one item, x [n, d_model], in blocks of `size` tokens.
Tensor equation(const ablate::Attention& attention, std::int64_t size, std::int64_t top, bool causal, const Tensor& x,
                Wrong wrong = Wrong::kNothing) {
  constexpr std::int64_t heads = 2;
  const auto n = x.size(0), blocks = (n + size - 1) / size;
  const auto split = [&](const char* name) { return layer(attention, name, x).unflatten(-1, {heads, -1}); };
  const auto q = split("query"), k = split("key"), v = split("value");  // [n, heads, d]
  const auto mean = [&](std::int64_t b) { return k.narrow(0, b * size, std::min(size, n - b * size)).mean(0); };
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<Tensor> parts;
    for (std::int64_t h = 0; h < heads; ++h) {
      std::vector<std::int64_t> read;
      for (std::int64_t b = 0; b < blocks; ++b)
        if (b != i / size && (!causal || b < i / size)) read.push_back(b);
      const auto likeness = [&](std::int64_t b) {
        const auto each = (q[i] * mean(b)).sum(-1);
        return (wrong == Wrong::kAllHeads ? each.sum() : each[h]).item<double>() * (wrong == Wrong::kLeast ? -1 : 1);
      };
      std::sort(read.begin(), read.end(), [&](auto a, auto b) { return likeness(a) > likeness(b); });
      read.resize(std::min(read.size(), static_cast<std::size_t>(top - 1)));
      if (wrong != Wrong::kNotOwn || read.empty()) read.push_back(i / size);
      std::vector<std::int64_t> tokens;
      for (std::int64_t j = 0; j < n; ++j)
        if (std::ranges::count(read, j / size) > 0 && (!causal || j <= i)) tokens.push_back(j);
      const auto index = ablate::integers(tokens);
      const auto weights = similarity("softmax", q[i][h], k.select(1, h).index_select(0, index));
      parts.push_back(weights.matmul(v.select(1, h).index_select(0, index)) / weights.sum());
    }
    rows.push_back(ablate::cat(parts));
  }
  return layer(attention, "output", ablate::stack(rows));
}

}  // namespace

TEST_CASE("block-mixture equals its equation, padded and not, in values and gradients") {
  for (const bool causal : {false, true})
    for (const auto& [size, top] : {std::pair<std::int64_t, std::int64_t>{2, 2}, {3, 3}, {4, 1}, {20, 3}}) {
      INFO("causal " << causal << ", block " << size << ", top " << top);
      const auto attention = make(section("block-mixture", {{"block", size}, {"top", top}}), 1, {.causal = causal});
      check_equation(*attention, {13, 6, 1}, [&](const auto& own) { return equation(*attention, size, top, causal, own); });
      if (top < 2 || size > 13) continue;
      const auto x = random_tokens(3, 13, 2);
      const auto expected = equation(*attention, size, top, causal, x[0]);
      for (const auto wrong : {Wrong::kLeast, Wrong::kAllHeads, Wrong::kNotOwn})
        CHECK(distance(expected, equation(*attention, size, top, causal, x[0], wrong)) > 1e-3);
    }
}

TEST_CASE("largest() selects the requested number of values, and later positions among equal values") {
  auto x = ablate::full({1, 5}, 3, ablate::kDouble);
  x[0][1] = 1;
  x[0][3] = -INFINITY;
  const auto which = [&](std::int64_t count) {
    std::vector<bool> all;
    const auto found = ablate::largest(x, count);
    for (std::int64_t i = 0; i < x.size(1); ++i) all.push_back(found[0][i].item<bool>());
    return all;
  };
  CHECK((which(1) == std::vector<bool>{false, false, false, false, true}));
  CHECK((which(2) == std::vector<bool>{false, false, true, false, true}));
  CHECK((which(4) == std::vector<bool>{true, true, true, false, true}));
  CHECK((which(9) == std::vector<bool>(5, true)));
}
