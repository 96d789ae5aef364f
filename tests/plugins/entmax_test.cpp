// Sparse weights against softmax (alpha 1), and against sparsemax and 1.5-entmax by sorting, with gradients. Weights of other
// alphas against a search.
#include <algorithm>

#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

std::shared_ptr<ablate::Attention> entmax(const nlohmann::json& parameters, bool causal = false) {
  auto all = parameters;
  all["heads"] = kHeads;
  return make(section("entmax", all), 1, {.causal = causal});
}

/// Sorts in descending order.
Tensor sorted(const Tensor& x) { return std::get<0>(x.sort(0, true)); }

/// Computes the weights of x [n] by Algorithm 1 of Martins and Astudillo 2016.
Tensor sparsemax(const Tensor& x) {
  const auto z = sorted(x);
  const auto count = ablate::arange(x.size(0), ablate::kDouble) + 1;
  const auto support = (count * z + 1 > z.cumsum(0)).sum().item<std::int64_t>();
  const auto tau = (z.narrow(0, 0, support).sum() - 1) / static_cast<double>(support);
  return (x - tau).clamp_min(0);
}

/// Computes weights for alpha 1.5 by sorting (Peters, Niculae, Martins 2019, Algorithm 2).
Tensor entmax_by_sorting(const Tensor& x) {
  const auto z = sorted(x / 2);
  Tensor tau;
  for (std::int64_t count = 1; count <= x.size(0); ++count) {
    const auto first = z.narrow(0, 0, count);
    const auto mean = first.mean(), spread = (first - mean).square().sum();
    if (spread.item<double>() > 1) break;
    const auto candidate = mean - ((1 - spread) / static_cast<double>(count)).sqrt();
    if (candidate.item<double>() > z[count - 1].item<double>()) break;
    tau = candidate;
  }
  return (x / 2 - tau).clamp_min(0).square();
}

/// Computes weights for any alpha above 1 by bisection, without gradient.
Tensor by_search(const Tensor& x, double alpha) {
  const auto at = [&](double tau) { return ((alpha - 1) * x.detach() - tau).clamp_min(0).pow(1 / (alpha - 1)); };
  double low = -1e3, high = 1e3;
  for (int i = 0; i < 200; ++i) {
    const auto middle = (low + high) / 2;
    (at(middle).sum().item<double>() > 1 ? low : high) = middle;
  }
  return at(low);
}

Tensor top(const Tensor& x, std::int64_t k) {
  const auto least = sorted(x)[std::min(k, x.size(0)) - 1].item<double>();
  return x.masked_fill(x < least, -INFINITY).softmax(0);
}

/// Computes one item, query by query. `weigh` maps (scores [n], head) to weights [n].
template <class Weigh>
Tensor expected(const ablate::Attention& attention, const Tensor& x, bool causal, const Weigh& weigh) {
  const auto q = layer(attention, "query", x), k = layer(attention, "key", x), v = layer(attention, "value", x);
  const auto d = q.size(1) / kHeads;
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    std::vector<Tensor> parts;
    for (std::int64_t h = 0; h < kHeads; ++h) {
      const auto seen = causal ? i + 1 : x.size(0);
      const auto of = [&](const Tensor& all) { return all.narrow(0, 0, seen).narrow(1, h * d, d); };
      const auto scores = of(k).matmul(q[i].narrow(0, h * d, d)) / std::sqrt(static_cast<double>(d));
      parts.push_back(weigh(scores, h).matmul(of(v)));
    }
    rows.push_back(ablate::cat(parts));
  }
  return layer(attention, "output", ablate::stack(rows));
}

}  // namespace

TEST_CASE("sparsemax, 1.5-entmax and top-k equal the papers' algorithms, causal and not, padded and not, with gradients") {
  const auto x = random_tokens(4, 13, 2) * 3;
  const auto check = [&](const nlohmann::json& parameters, const auto& weigh) {
    for (const bool causal : {false, true}) {
      const auto attention = entmax(parameters, causal);
      const auto off = off_padded(*attention, x, {13, 6, 1, 0}, [&](const Tensor& own) {
        return expected(*attention, own, causal, [&](const Tensor& scores, auto) { return weigh(scores); });
      });
      INFO(parameters.dump() << ", causal " << causal);
      CHECK(off.output < 1e-10);
      CHECK(off.gradient < 1e-8);
    }
  };
  check({{"alpha", 2.0}}, sparsemax);
  check({{"alpha", 1.5}}, entmax_by_sorting);
  check({{"weights", "top-k"}, {"k", 4}}, [](const Tensor& scores) { return top(scores, 4); });
}

TEST_CASE("entmax equals its equation at every alpha; a trained alpha of each head starts at 1.5 and has a gradient") {
  const auto x = random_tokens(1, 13, 2) * 3;
  for (const double alpha : {1.02, 1.1, 1.9}) {
    const auto attention = entmax({{"alpha", alpha}});
    const auto right = expected(*attention, x[0], false, [&](const Tensor& scores, auto) { return by_search(scores, alpha); });
    INFO(alpha);
    CHECK(distance(run(*attention, {x})[0], right) < 1e-10);
  }
  const auto attention = entmax({{"weights", "trained-entmax"}}, true);
  const auto trained = parameter(*attention, "alpha");
  const auto right = [&](const std::vector<double>& a) {
    return expected(*attention, x[0], true,
                    [&](const Tensor& scores, std::int64_t h) { return by_search(scores, 1 + 1 / (1 + std::exp(-a[h]))); });
  };
  CHECK(distance(run(*attention, {x})[0], right({0, 0})) < 1e-10);
  const std::vector<double> a = {0.7, -0.4};
  {
    ablate::NoGradGuard none;
    for (std::int64_t h = 0; h < kHeads; ++h) trained[h].fill_(a[static_cast<std::size_t>(h)]);
  }
  const auto output = run(*attention, {x})[0], weights = random_tokens(1, 13, 3)[0];
  CHECK(distance(output, right(a)) < 1e-10);
  const auto found = torch::autograd::grad({(output * weights).sum()}, {trained})[0];
  for (std::size_t h = 0; h < 2; ++h) {
    constexpr double step = 1e-5;
    auto up = a, down = a;
    up[h] += step;
    down[h] -= step;
    const auto slope = ((right(up) - right(down)) * weights).sum().item<double>() / (2 * step);
    CHECK(found[static_cast<std::int64_t>(h)].item<double>() == Approx(slope).epsilon(1e-5));
  }
}

TEST_CASE("entmax at alpha 1, and top-k with k equal to the number of keys, equal softmax attention") {
  const auto x = random_tokens(2, 13, 2);
  const auto softmax = make(section("softmax", {{"heads", kHeads}}));
  for (const auto& parameters : {nlohmann::json{{"alpha", 1.0}}, nlohmann::json{{"weights", "top-k"}, {"k", 13}}}) {
    const auto attention = entmax(parameters);
    copy_parameters(*softmax, *attention);
    CHECK(distance(run(*attention, {x}), run(*softmax, {x})) < 1e-12);
  }
  const auto near = entmax({{"alpha", 1.01}});
  copy_parameters(*softmax, *near);
  CHECK(distance(run(*near, {x}), run(*softmax, {x})) < 2e-2);
  CHECK_THROWS_AS(entmax({{"alpha", 1.001}}), std::invalid_argument);
}

TEST_CASE("entmax: gradients stay finite if a trained alpha approaches 1") {
  const auto attention = entmax({{"weights", "trained-entmax"}});
  {
    ablate::NoGradGuard none;
    parameter(*attention, "alpha").fill_(-40);
  }
  const auto x = random_tokens(1, 13, 2).requires_grad_();
  for (const auto& found : gradients(*attention, run(*attention, {x}).sum(), {x})) CHECK(found.isfinite().all().item<bool>());
}

TEST_CASE("entmax gives some keys weight 0, and softmax none; a trained alpha is trained") {
  const auto attention = entmax({{"weights", "trained-entmax"}});
  const auto x = (random_tokens(1, 13, 2) * 6).requires_grad_();
  const auto output = run(*attention, {x});
  const auto found = gradients(*attention, (output * random_tokens(1, 13, 3)).sum(), {x});
  std::size_t index = 0;
  for (const auto& entry : attention->parameters()) {
    if (entry.name == "alpha") CHECK(found[index].abs().min().item<double>() > 0);
    ++index;
  }
  // Value token j reaches query 0 only if its weight is not 0.
  const auto reached = gradients(*attention, run(*attention, {random_tokens(1, 1, 4), x}).sum(), {x}).back()[0].abs().amax(1);
  CHECK(reached.eq(0).sum().item<std::int64_t>() > 3);
}
