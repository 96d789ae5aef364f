// Native sparse attention against its equations, query by query.
#include <algorithm>

#include "tests/plugins/equations.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

/// Wrong variants: the least similar blocks, means of incomplete blocks, no block before the own block, one gate for all
/// branches, a window that is longer by one.
enum class Wrong { kNothing, kLeast, kIncomplete, kNotBefore, kOneGate, kLonger };

struct Sizes {
  std::int64_t block, top, window;
};

/// Computes one item, x [n, d_model].
Tensor equation(const ablate::Attention& attention, const Sizes& sizes, bool causal, const Tensor& x,
                Wrong wrong = Wrong::kNothing) {
  constexpr std::int64_t heads = 2;
  const auto n = x.size(0), size = sizes.block, blocks = (n + size - 1) / size;
  const auto split = [&](const char* name) { return layer(attention, name, x).unflatten(-1, {heads, -1}); };
  const auto q = split("query"), k = split("key"), v = split("value");  // [n, heads, d]
  const auto gates = split("gate").sigmoid();                           // [n, heads, 3]
  const auto mean = [&](const Tensor& y, std::int64_t b) {
    return y.narrow(0, b * size, std::min(size, n - b * size)).mean(0);
  };
  const auto window = sizes.window + (wrong == Wrong::kLonger ? 1 : 0);
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto own = i / size;
    std::vector<std::int64_t> complete, always = {own};
    for (std::int64_t b = 0; b < blocks; ++b)
      if (!causal || (b + 1) * size - 1 <= i || (wrong == Wrong::kIncomplete && b <= own)) complete.push_back(b);
    if (own > 0 && wrong != Wrong::kNotBefore) always.push_back(own - 1);
    if (std::ranges::count(always, 0) == 0) always.push_back(0);
    always.resize(std::min(always.size(), static_cast<std::size_t>(sizes.top)));
    std::vector<Tensor> parts;
    for (std::int64_t h = 0; h < heads; ++h) {
      auto likest = complete;
      std::erase_if(likest, [&](auto b) { return std::ranges::count(always, b) > 0; });
      const auto likeness = [&](std::int64_t b) {
        return (q[i][h] * mean(k, b)[h]).sum().item<double>() * (wrong == Wrong::kLeast ? -1 : 1);
      };
      std::sort(likest.begin(), likest.end(), [&](auto a, auto b) { return likeness(a) > likeness(b); });
      likest.resize(std::min(likest.size(), static_cast<std::size_t>(sizes.top) - always.size()));
      likest.insert(likest.end(), always.begin(), always.end());

      const auto read = [&](const std::vector<Tensor>& keys, const std::vector<Tensor>& values) {
        if (keys.empty()) return ablate::zeros_like(v[i][h]);
        const auto weights = similarity("softmax", q[i][h], ablate::stack(keys));
        return weights.matmul(ablate::stack(values)) / weights.sum();
      };
      std::vector<Tensor> mean_keys, mean_values, chosen_keys, chosen_values, near_keys, near_values;
      for (const auto b : complete) mean_keys.push_back(mean(k, b)[h]), mean_values.push_back(mean(v, b)[h]);
      for (std::int64_t j = 0; j < n; ++j) {
        if (causal && j > i) continue;
        if (std::ranges::count(likest, j / size) > 0) chosen_keys.push_back(k[j][h]), chosen_values.push_back(v[j][h]);
        if (std::abs(i - j) < window) near_keys.push_back(k[j][h]), near_values.push_back(v[j][h]);
      }
      const auto gate = [&](std::int64_t branch) { return gates[i][h][wrong == Wrong::kOneGate ? 0 : branch]; };
      parts.push_back(gate(0) * read(mean_keys, mean_values) + gate(1) * read(chosen_keys, chosen_values) +
                      gate(2) * read(near_keys, near_values));
    }
    rows.push_back(ablate::cat(parts));
  }
  return layer(attention, "output", ablate::stack(rows));
}

}  // namespace

TEST_CASE("native-sparse equals its equations, padded and not, in values and gradients") {
  for (const bool causal : {false, true})
    for (const auto& [sizes, wrongs] :
         {std::pair<Sizes, std::vector<Wrong>>{{2, 4, 3}, {Wrong::kLeast, Wrong::kIncomplete, Wrong::kOneGate, Wrong::kLonger}},
          {{2, 3, 2}, {Wrong::kNotBefore}},
          {{3, 1, 1}, {}},
          {{20, 4, 30}, {Wrong::kOneGate}}}) {
      INFO("causal " << causal << ", block " << sizes.block << ", top " << sizes.top);
      const auto attention =
          make(section("native-sparse", {{"block", sizes.block}, {"top", sizes.top}, {"window", sizes.window}}), 1,
               {.causal = causal});
      check_equation(*attention, {13, 6, 1}, [&](const auto& own) { return equation(*attention, sizes, causal, own); });
      const auto x = random_tokens(3, 13, 2);
      const auto expected = equation(*attention, sizes, causal, x[0]);
      for (const auto wrong : wrongs) {
        if (wrong == Wrong::kIncomplete && !causal) continue;
        INFO("wrong " << static_cast<int>(wrong));
        CHECK(distance(expected, equation(*attention, sizes, causal, x[0], wrong)) > 1e-3);
      }
    }
}
