// Reported weights: softmax's weights equal its equation. Heads whose outputs are not weighted means of values have no weights.
#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

Tensor weights(ablate::Attention& attention, const Tensor& queries, const Tensor& context, const Tensor& mask) {
  const bool self = !context.defined();
  return attention.weights({.queries = queries,
                            .context = self ? queries : context,
                            .mask = mask,
                            .query_mask = self ? mask : Tensor(),
                            .generator = ablate::make_generator(1)});
}

}  // namespace

TEST_CASE("softmax's weights equal its equation: masked, causal, across sequences") {
  const auto x = random_tokens(3, 21, 3), y = random_tokens(3, 13, 4);
  for (const bool causal : {false, true})
    for (const bool crosses : {false, true}) {
      if (causal && crosses) continue;
      INFO("causal " << causal << ", of another sequence " << crosses);
      const auto attention = make(section("softmax", {{"heads", 2}}), 1, {.causal = causal});
      const auto keys = crosses ? y : x;
      const auto n = keys.size(1);
      const auto mask = mask_of(n, {n, 4, 0});
      const auto found = weights(*attention, x, crosses ? y : Tensor(), mask);
      REQUIRE(found.sizes() == ablate::IntArrayRef{3, 2, 21, n});
      for (std::int64_t i = 0; i < 3; ++i) {
        const auto q = by_head(layer(*attention, "query", x[i]), 2), k = by_head(layer(*attention, "key", keys[i]), 2);
        auto seen = mask[i].unsqueeze(0).expand({21, n});
        if (!crosses) seen = seen.logical_and(mask[i].unsqueeze(1));  // a padded query sees no key
        if (causal) seen = seen.logical_and(pairs(21, [](std::int64_t query, std::int64_t key) { return key <= query; }));
        const auto identity = (ablate::arange(n).unsqueeze(1) == ablate::arange(n)).to(ablate::kDouble).expand({2, n, n});
        const auto expected = read_seen(q.matmul(k.transpose(-1, -2)) / std::sqrt(8.0), identity, seen);
        CHECK(distance(found[i], expected) < 1e-12);
      }
    }
}

TEST_CASE("heads whose outputs are no mean of values have no weights") {
  const auto x = random_tokens(1, 9, 3);
  for (const std::string id : {"retention", "delta", "mamba2"})
    CHECK_FALSE(weights(*make(section(id), 1, {.causal = true}), x, {}, {}).defined());
  CHECK_FALSE(weights(*make(section("adamra", {{"compression", {{"plugin", "segment-mean"}}}})), x, {}, {}).defined());
  CHECK(weights(*make(section("linear")), x, {}, {}).defined());
}

TEST_CASE("weights require evaluation") {
  const auto attention = make(section("softmax"));
  attention->train();
  CHECK_THROWS_WITH(weights(*attention, random_tokens(1, 3, 1), {}, {}),
                    "weights() of an attention in training, expected evaluation: call eval() before");
}
