// Sparse weights: softmax at alpha 1, sparsemax by sorting at alpha 2, and the equations by scalar search in between.
#include <algorithm>

#include "tests/plugins/attention.h"
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

/// Martins and Astudillo 2016, Algorithm 1.
std::vector<double> sparsemax(std::vector<double> x) {
  auto sorted = x;
  std::sort(sorted.rbegin(), sorted.rend());
  double sum = 0, tau = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    if (1 + static_cast<double>(i + 1) * sorted[i] > sum) tau = (sum - 1) / static_cast<double>(i + 1);
  }
  for (auto& number : x) number = std::max(0.0, number - tau);
  return x;
}

std::vector<double> by_search(const std::vector<double>& x, double alpha) {
  const auto at = [&](double tau) {
    std::vector<double> p;
    for (const auto number : x) p.push_back(std::pow(std::max(0.0, (alpha - 1) * number - tau), 1 / (alpha - 1)));
    return p;
  };
  double low = -1e3, high = 1e3;
  for (int i = 0; i < 200; ++i) {
    const auto middle = (low + high) / 2;
    double sum = 0;
    for (const auto number : at(middle)) sum += number;
    (sum > 1 ? low : high) = middle;
  }
  return at(low);
}

std::vector<double> top(std::vector<double> x, std::size_t k) {
  auto sorted = x;
  std::sort(sorted.rbegin(), sorted.rend());
  double sum = 0;
  for (auto& number : x) sum += number = number >= sorted[std::min(k, sorted.size()) - 1] ? std::exp(number) : 0;
  for (auto& number : x) number /= sum;
  return x;
}

/// One item, query by query. @param weigh scores to weights
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
      std::vector<double> numbers(scores.template const_data_ptr<double>(), scores.template const_data_ptr<double>() + seen);
      const auto p = weigh(numbers, h);
      auto row = ablate::zeros({d}, ablate::kDouble);
      for (std::int64_t j = 0; j < seen; ++j) row = row + of(v)[j] * p[static_cast<std::size_t>(j)];
      parts.push_back(row);
    }
    rows.push_back(ablate::cat(parts));
  }
  return layer(attention, "output", ablate::stack(rows));
}

}  // namespace

TEST_CASE("entmax is its equations at every alpha, causal and not, padded and not") {
  const std::vector<std::int64_t> lengths = {13, 6, 1};
  const auto x = random_tokens(3, 13, 2) * 3;
  const auto check = [&](const nlohmann::json& parameters, const auto& weigh) {
    for (const bool causal : {false, true}) {
      const auto attention = entmax(parameters, causal);
      const auto output = run(*attention, {x, {}, mask_of(13, lengths)});
      for (std::int64_t i = 0; i < 3; ++i) {
        INFO(parameters.dump() << ", causal " << causal << ", item " << i);
        const auto own = x[i].narrow(0, 0, lengths[i]);
        CHECK(distance(output[i].narrow(0, 0, lengths[i]), expected(*attention, own, causal, weigh)) < 1e-10);
      }
    }
  };
  check({{"alpha", 2.0}}, [](const auto& scores, auto) { return sparsemax(scores); });
  for (const double alpha : {1.02, 1.1, 1.5, 1.9})
    check({{"alpha", alpha}}, [&](const auto& scores, auto) { return by_search(scores, alpha); });
  check({{"weights", "trained-entmax"}}, [](const auto& scores, auto) { return by_search(scores, 1.5); });
  check({{"weights", "top-k"}, {"k", 4}}, [](const auto& scores, auto) { return top(scores, 4); });
}

TEST_CASE("entmax at alpha 1, and the k largest of fewer keys, are softmax attention") {
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

TEST_CASE("entmax: a trained alpha that has run to softmax's end stays finite") {
  const auto attention = entmax({{"weights", "trained-entmax"}});
  {
    ablate::NoGradGuard none;
    parameter(*attention, "alpha").fill_(-40);
  }
  const auto x = random_tokens(1, 13, 2).requires_grad_();
  for (const auto& found : gradients(*attention, run(*attention, {x}).sum(), {x})) CHECK(found.isfinite().all().item<bool>());
}

TEST_CASE("entmax leaves keys out, softmax none; a trained alpha is trained") {
  const auto attention = entmax({{"weights", "trained-entmax"}});
  const auto x = (random_tokens(1, 13, 2) * 6).requires_grad_();
  const auto output = run(*attention, {x});
  const auto found = gradients(*attention, (output * random_tokens(1, 13, 3)).sum(), {x});
  std::size_t index = 0;
  for (const auto& entry : attention->parameters()) {
    if (entry.name == "alpha") CHECK(found[index].abs().min().item<double>() > 0);
    ++index;
  }
  // Value token j reaches query 0 only where its weight is not 0.
  const auto reached = gradients(*attention, run(*attention, {random_tokens(1, 1, 4), x}).sum(), {x}).back()[0].abs().amax(1);
  CHECK(reached.eq(0).sum().item<std::int64_t>() > 3);
}
