// Compressed sparse attention against its equation, one query at a time: near tokens, all or chosen slots, and a sink.
#include <algorithm>
#include <numeric>

#include "tests/plugins/equations.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;
using nlohmann::json;

namespace {

struct Case {
  bool causal;
  std::int64_t window, rate, top;
  bool sink;
};

/// Faults of the equation.
enum class Wrong { kNothing, kMass, kIncomplete, kChoice };

json over(const std::string& compression, const Case& of) {
  return section("compressed-sparse", {{"window", of.window},
                                       {"rate", "1/" + std::to_string(of.rate)},
                                       {"top", of.top},
                                       {"sink", of.sink},
                                       {"compression", {{"plugin", compression}}}});
}

constexpr std::int64_t kHeads = 2;

/// Computes one item, x [n, d_model], over segment means.
Tensor equation(const ablate::Attention& attention, const Case& of, const Tensor& x, Wrong wrong = Wrong::kNothing) {
  const auto n = x.size(0), slots = (n + of.rate - 1) / of.rate;
  const auto split = [&](const char* name) { return layer(attention, name, x).unflatten(-1, {kHeads, -1}); };
  const auto q = split("query"), k = split("key"), v = split("value");  // [n, heads, d]
  const auto count = [&](std::int64_t s) { return std::min(of.rate, n - s * of.rate); };
  const auto mean = [&](const Tensor& t, std::int64_t s) { return t.narrow(0, s * of.rate, count(s)).mean(0); };
  const double root = std::sqrt(static_cast<double>(q.size(2)));
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::int64_t> read;
    for (std::int64_t s = 0; s < slots; ++s)
      if (!of.causal || wrong == Wrong::kIncomplete || (s + 1) * of.rate - 1 <= i) read.push_back(s);
    const auto index = [&](std::int64_t s) { return (q[i] * mean(k, s)).sum(-1).relu().sum().item<double>(); };
    std::sort(read.begin(), read.end(), [&](auto a, auto b) { return std::pair(index(a), a) > std::pair(index(b), b); });
    if (wrong == Wrong::kChoice) std::reverse(read.begin(), read.end());
    if (of.top > 0 && static_cast<std::int64_t>(read.size()) > of.top) read.resize(static_cast<std::size_t>(of.top));
    std::vector<Tensor> heads;
    for (std::int64_t h = 0; h < kHeads; ++h) {
      auto above = ablate::zeros({v.size(2)}, ablate::kDouble), below = ablate::zeros({}, ablate::kDouble);
      const auto add = [&](const Tensor& key, const Tensor& value, double mass) {
        const auto weight = mass * ((q[i][h] * key).sum() / root).exp();
        above = above + weight * value, below = below + weight;
      };
      for (std::int64_t j = 0; j < n; ++j)
        if (std::abs(i - j) < of.window && (!of.causal || j <= i)) add(k[j][h], v[j][h], 1);
      for (const auto s : read) add(mean(k, s)[h], mean(v, s)[h], wrong == Wrong::kMass ? 1 : static_cast<double>(count(s)));
      if (of.sink) below = below + parameter(attention, "sink")[h].exp();
      heads.push_back(above / below);
    }
    rows.push_back(ablate::cat(heads));
  }
  return layer(attention, "output", ablate::stack(rows));
}

}  // namespace

TEST_CASE("compressed-sparse equals its equation, padded and not, in values and gradients") {
  for (const auto& of :
       {Case{true, 3, 2, 0, false}, Case{true, 2, 4, 0, true}, Case{true, 3, 2, 2, false}, Case{true, 1, 2, 1, true},
        Case{false, 3, 2, 0, false}, Case{false, 2, 3, 2, true}, Case{true, 40, 2, 2, false}}) {
    INFO("causal " << of.causal << ", window " << of.window << ", rate 1/" << of.rate << ", top " << of.top << ", sink "
                   << of.sink);
    const auto attention = make(over("segment-mean", of), 1, {.causal = of.causal});
    if (of.sink) {
      const ablate::NoGradGuard none;
      parameter(*attention, "sink").copy_(normal({kHeads}, 7));
    }
    check_equation(*attention, {13, 6, 1}, [&](const auto& own) { return equation(*attention, of, own); });
    const auto x = random_tokens(3, 13, 2);
    const auto expected = equation(*attention, of, x[0]);
    CHECK(distance(expected, equation(*attention, of, x[0], Wrong::kMass)) > 1e-3);
    if (of.causal && of.top == 0) CHECK(distance(expected, equation(*attention, of, x[0], Wrong::kIncomplete)) > 1e-3);
    if (of.top > 0) CHECK(distance(expected, equation(*attention, of, x[0], Wrong::kChoice)) > 1e-3);
  }
}

TEST_CASE("compressed-sparse without a complete slot equals softmax attention within its window") {
  const auto x = random_tokens(2, 11, 2);
  for (const std::int64_t window : {3, 40}) {
    const auto attention = make(over("gated-pool", {true, window, 64, 0, false}), 1, {.causal = true});
    const auto plain = make(section("softmax"), 1, {.causal = true});
    copy_parameters(*attention, *plain);
    CHECK((distance(run(*attention, {x}), run(*plain, {x})) < 1e-12) == (window > 11));
  }
}

TEST_CASE("compressed-sparse accepts a compression with slots beside tokens, and its promises follow from this compression") {
  const auto promised = [](const std::string& compression, const Case& of) { return promised_by(over(compression, of)); };
  const Case plain{true, 4, 4, 0, false};
  CHECK(promised("segment-mean", plain).causal);
  CHECK_FALSE(promised("clustering", plain).causal);
  CHECK(promised("segment-mean", plain).averages);
  CHECK_FALSE(promised("segment-mean", {true, 4, 4, 0, true}).averages);
  CHECK_FALSE(promised("segment-mean", plain).sparse);
  CHECK(promised("segment-mean", {true, 3, 4, 0, false}).sparse);
  CHECK(promised("segment-mean", {true, 4, 4, 2, false}).sparse);
  CHECK_THROWS_WITH(make(over("random-features", plain)), Catch::Matchers::Contains("choose one that promises beside_tokens"));
  const auto x = random_tokens(2, 12, 2);
  for (const auto* compression : {"segment-mean", "gated-pool", "max-pool", "clustering", "most-used", "convolution"}) {
    INFO(compression);
    CHECK(run(*make(over(compression, {false, 3, 4, 2, true})), {x}).isfinite().all().item<bool>());
  }
}
