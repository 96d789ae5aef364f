// Attention over one memory: at rate 1 it equals the attention that it compresses, and causal reads see only complete slots.
#include "tests/plugins/equations.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;
using nlohmann::json;

namespace {

json over(const std::string& compression, json parameters) {
  parameters["compression"] = {{"plugin", compression}};
  return section("compressed", parameters);
}

}  // namespace

TEST_CASE("compressed at rate 1, or with a slot for each token, equals the uncompressed attention") {
  const auto mask = mask_of(9, {9, 4, 1});
  const auto x = random_tokens(3, 9, 2).requires_grad_(), queries = random_tokens(3, 5, 3).requires_grad_();
  for (const std::string read : {"softmax", "elu+1", "relu"})
    for (const json& kept : {json{{"rate", "1"}}, json{{"slots", 9}}, json{{"slots", 30}}}) {
      json parameters{{"heads", 4}, {"read", read}};
      parameters.update(kept);
      const auto compressed = make(over("segment-mean", parameters));
      const auto whole = make(
          read == "softmax" ? section("softmax", {{"heads", 4}}) : section("linear", {{"heads", 4}, {"feature_map", read}}), 2);
      const auto output = [&](ablate::Attention& attention) { return run(attention, {queries, x, mask}); };
      CHECK(distance(output(*compressed), output(*whole)) > 1e-3);
      copy_parameters(*compressed, *whole);
      INFO(read << ", " << kept.dump());
      CHECK(distance(output(*compressed), output(*whole)) < 1e-12);
      const auto found = [&](ablate::Attention& attention) {
        return gradients(attention, (output(attention) * random_tokens(3, 5, 4)).sum(), {queries, x});
      };
      CHECK(distance(found(*compressed), found(*whole)) < 1e-11);
    }
}

TEST_CASE("compressed reads segments at lower rates") {
  // The tokens of a segment are equal, so every rate down to one slot for each segment gives the same result.
  const auto x = random_tokens(2, 4, 2).repeat_interleave(4, 1);  // 16 tokens, 4 of them different
  const auto full = run(*make(over("segment-mean", {{"rate", "1"}})), {x});
  for (const json& kept : {json{{"rate", "1/2"}}, json{{"rate", "1/4"}}, json{{"slots", 8}}, json{{"slots", 4}}})
    CHECK(distance(run(*make(over("segment-mean", kept)), {x}), full) < 1e-12);
  CHECK(distance(run(*make(over("segment-mean", {{"rate", "1/8"}})), {x}), full) > 1e-3);
}

TEST_CASE("compressed and causal: rate 1 equals causal attention, and other rates read no incomplete segment") {
  const auto x = random_tokens(2, 11, 2);
  const auto whole = make(section("softmax"), 1, {.causal = true});
  const auto lossless = make(over("segment-mean", {{"rate", "1"}}), 1, {.causal = true});
  CHECK(distance(run(*lossless, {x}), run(*whole, {x})) < 1e-12);
  const auto causal = make(over("segment-mean", {{"rate", "1/4"}}), 1, {.causal = true});
  const auto output = run(*causal, {x});
  const auto bias = parameter(*causal, "output.bias");
  for (std::int64_t i = 0; i < 3; ++i) CHECK(output.select(1, i).equal(bias.expand({2, -1})));  // nothing to read yet
  for (std::int64_t i = 3; i < 11; ++i) {
    const auto seen = x.narrow(1, 0, (i + 1) / 4 * 4);
    const auto cut = make(over("segment-mean", {{"rate", "1/4"}}));
    CHECK(distance(output.narrow(1, i, 1), run(*cut, {x.narrow(1, i, 1), seen})) < 1e-12);
  }
}

TEST_CASE("the promises of compressed depend on its compression and parameters") {
  const auto promised = [](const std::string& compression, const json& parameters) {
    return promised_by(over(compression, parameters));
  };
  CHECK(promised("segment-mean", json::object()).causal);
  CHECK_FALSE(promised("segment-mean", {{"slots", 4}}).causal);
  CHECK_FALSE(promised("clustering", json::object()).causal);
  CHECK(promised("clustering", json::object()).averages);
  CHECK_FALSE(promised("random-features", json::object()).averages);
  CHECK(promised("random-features", json::object()).half_precision);
  CHECK_THROWS_WITH(make(over("clustering", {{"slots", 4}})),
                    Catch::Matchers::Contains("clustering does not promise to keep a fixed number of slots"));
}

TEST_CASE("a rate is not read if the number of slots is fixed, so the host refuses the rate") {
  CHECK(ablate::describe(ablate::test::plugin("compressed")).find("rate")->when == "slots = 0");
  const ablate::Reads reads;
  make(over("segment-mean", {{"slots", 4}}));
  CHECK_FALSE(reads.contains(ablate::describe(ablate::test::plugin("compressed")), "rate"));
}

TEST_CASE("a similarity that the memory ignores is refused: it would change a trial's key, but no result") {
  for (const char* own : {"random-features", "rbf"}) {
    CHECK_NOTHROW(make(over(own, json::object())));
    CHECK_NOTHROW(make(over(own, {{"read", "softmax"}})));  // the default, which counts as not set
    CHECK_THROWS_WITH(make(over(own, {{"read", "relu"}})),
                      Catch::Matchers::Contains("read is not used here: the compression has a kernel of its own"));
  }
  CHECK_NOTHROW(make(over("segment-mean", {{"read", "relu"}})));
}
