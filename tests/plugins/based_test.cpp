// Based against its weights in plain operators: 1 + s + s^2 / 2, normalised.
#include "tests/plugins/recurrent.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

std::shared_ptr<ablate::Attention> based(bool causal, bool carries = false) {
  return make(section("based", {{"heads", kHeads}, {"feature_channels", 5}}), 1, {.causal = causal, .carries = carries});
}

/// @param order order of the Taylor series: 1 or 2
Tensor expected(const ablate::Attention& attention, const Tensor& x, bool causal, int order = 2) {
  const auto q = by_heads(layer(attention, "query", x), kHeads), k = by_heads(layer(attention, "key", x), kHeads),
             v = by_heads(layer(attention, "value", x), kHeads);
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    std::vector<Tensor> parts;
    for (std::int64_t h = 0; h < kHeads; ++h) {
      const auto seen = causal ? i + 1 : x.size(0);
      const auto s = k.narrow(0, 0, seen).select(1, h).matmul(q[i][h]) / std::sqrt(static_cast<double>(q.size(2)));
      const auto weights = order == 2 ? 1 + s + s * s / 2 : 1 + s;
      parts.push_back(weights.matmul(v.narrow(0, 0, seen).select(1, h)) / weights.sum());
    }
    rows.push_back(ablate::cat(parts));
  }
  return layer(attention, "output", ablate::stack(rows));
}

}  // namespace

TEST_CASE("based equals its Taylor series, causal and not, padded and not, with gradients; the first order differs") {
  for (const bool causal : {false, true}) {
    const auto attention = based(causal);
    const std::vector<std::int64_t> lengths = {70, 13, 1};
    const auto x = random_tokens(3, 70, 2).requires_grad_(), weights = random_tokens(3, 70, 3);
    const auto output = run(*attention, {x, {}, mask_of(70, lengths)});
    auto loss = ablate::zeros({}, ablate::kDouble), right = ablate::zeros({}, ablate::kDouble);
    for (std::int64_t i = 0; i < 3; ++i) {
      INFO("causal " << causal << ", item " << i);
      const auto n = lengths[i];
      const auto own = x[i].narrow(0, 0, n), plain = expected(*attention, own, causal);
      CHECK(distance(output[i].narrow(0, 0, n), plain) < 1e-11);
      if (n > 1) CHECK(distance(plain, expected(*attention, own, causal, 1)) > 1e-4);
      loss = loss + (output[i].narrow(0, 0, n) * weights[i].narrow(0, 0, n)).sum();
      right = right + (plain * weights[i].narrow(0, 0, n)).sum();
    }
    CHECK(distance(gradients(*attention, loss, {x}), gradients(*attention, right, {x})) < 1e-9);
  }
}

TEST_CASE("based: segments equal the whole") {
  const auto attention = based(true, true);
  const auto x = random_tokens(2, 71, 2);
  CHECK(distance(by_segments(*attention, x, {1, 30, 40}), run(*attention, {x})) < 1e-11);
}
