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
