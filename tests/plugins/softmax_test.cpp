// Softmax attention against its equation, one query at a time.
#include "tests/plugins/equations.h"
#include "tests/support/catch.h"

using namespace ablate::test;

TEST_CASE("softmax is the softmax of its equation") {
  for (const std::int64_t heads : {1, 4})
    for (const bool causal : {false, true})
      for (const bool cross : {false, true}) {
        const auto attention = make(section("softmax", {{"heads", heads}}), 1, {.causal = causal});
        INFO("heads " << heads << ", causal " << causal << ", cross " << cross);
        CHECK(off(*attention, "softmax", heads, causal, cross) < 1e-12);
      }
}

TEST_CASE("heads that do not divide the channels are named") {
  CHECK_THROWS_WITH(make(section("softmax", {{"heads", 3}})),
                    Catch::Matchers::Contains("heads = 3 does not divide d_model = 16"));
}

TEST_CASE("holes leave what is present as if they were not there, also before the first token") {
  const std::vector<std::int64_t> kept = {1, 2, 5, 8};
  auto mask = ablate::zeros({1, 10}, ablate::kBool);
  for (const auto place : kept) mask[0][place] = true;
  for (const bool causal : {false, true}) {
    const auto attention = make(section("softmax"), 1, {.causal = causal});
    const auto x = random_tokens(1, 10, 2);
    const auto places = ablate::integers(kept);
    const auto alone = run(*attention, {x.index_select(1, places)});
    const auto output = run(*attention, {x.masked_fill(mask.logical_not().unsqueeze(-1), NAN), {}, mask});
    INFO("causal " << causal);
    CHECK(distance(output.index_select(1, places), alone) < 1e-12);
    CHECK(output.isfinite().all().item<bool>());
  }
}
