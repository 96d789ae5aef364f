// Softmax attention against its equation, one query at a time.
#include "tests/plugins/equations.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

enum class Scope { kHead, kAllHeads };  ///< what a norm is over; the latter is wrong

/// One item's softmax with QK norm, whole matrices at a time (Henry et al. 2020, with rotary positions behind the norm).
/// @param x [n, kChannels] @param scope, gain other ones are wrong
Tensor normed(const ablate::Attention& attention, std::int64_t heads, const Tensor& x, bool causal, bool rotary,
              Scope scope = Scope::kHead, bool gain = true) {
  const auto over_rms = [&](const Tensor& of, std::int64_t parts) {
    const auto split = of.unflatten(1, {parts, -1});
    return (split / (split.square().mean(-1, true) + 1e-5).sqrt()).flatten(1);
  };
  const auto prepared = [&](const char* name) {
    const auto one = over_rms(layer(attention, name, x), scope == Scope::kHead ? heads : 1).unsqueeze(0);
    const auto split = ablate::split_heads(one, heads);
    return (rotary ? ablate::rotate_positions(split, {}, 0) : split).squeeze(0);  // [heads, n, d]
  };
  auto q = prepared("query");
  if (gain) q = q * parameter(attention, "gain");
  const auto v = ablate::split_heads(layer(attention, "value", x).unsqueeze(0), heads).squeeze(0);
  auto scores = q.matmul(prepared("key").transpose(1, 2)) / std::sqrt(static_cast<double>(q.size(2)));
  if (causal) scores = scores.masked_fill(ablate::ones({x.size(0), x.size(0)}, ablate::kBool).triu(1), -INFINITY);
  return layer(attention, "output", ablate::merge_heads(scores.softmax(-1).matmul(v).unsqueeze(0)).squeeze(0));
}

std::shared_ptr<ablate::Attention> with_norm(std::int64_t heads, bool causal, bool rotary) {
  auto attention = make(section("softmax", {{"heads", heads}, {"qk_norm", true}}), 1,
                        {.causal = causal, .positions = rotary ? ablate::Positions::kRotary : ablate::Positions::kNone});
  const ablate::NoGradGuard no_grad;
  parameter(*attention, "gain").copy_(normal({heads, 1, 1}, 5) + 3);  // other than where it starts
  return attention;
}

}  // namespace

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

TEST_CASE("QK norm is softmax of queries and keys over their root mean square, in values and gradients") {
  for (const std::int64_t heads : {1, 4})
    for (const bool causal : {false, true})
      for (const bool rotary : {false, true}) {
        INFO("heads " << heads << ", causal " << causal << ", rotary " << rotary);
        const auto attention = with_norm(heads, causal, rotary);
        const auto tokens = random_tokens(3, 9, 2);
        const std::vector<std::int64_t> lengths = {9, 4, 1};
        const auto padded = run(*attention, {tokens, {}, mask_of(9, lengths)});
        for (std::int64_t i = 0; i < 3; ++i) {
          const auto x = tokens[i].narrow(0, 0, lengths[static_cast<std::size_t>(i)]);
          CHECK(distance(padded[i].narrow(0, 0, x.size(0)), normed(*attention, heads, x, causal, rotary)) < 1e-12);
        }
        const auto x = tokens[0].clone().requires_grad_();
        const auto found = run(*attention, {x.unsqueeze(0)}).squeeze(0), formula = normed(*attention, heads, x, causal, rotary);
        const auto seed = random_tokens(1, 9, 7)[0];
        const auto ours = gradients(*attention, (found * seed).sum(), {x}),
                   expected = gradients(*attention, (formula * seed).sum(), {x});
        CHECK(distance(ours, expected) < 1e-11);
        // Without the gain, and, of several heads, over the channels of all of them, it is something else.
        CHECK(distance(found, normed(*attention, heads, x, causal, rotary, Scope::kHead, false)) > 1e-3);
        if (heads > 1) CHECK(distance(found, normed(*attention, heads, x, causal, rotary, Scope::kAllHeads)) > 1e-3);
      }
}

TEST_CASE("QK norm bounds scores: inputs a thousand times as large change next to nothing, where plain softmax picks one key") {
  const auto x = random_tokens(1, 9, 2);
  for (const bool norm : {true, false}) {
    const auto attention = make(section("softmax", {{"qk_norm", norm}}));
    const ablate::NoGradGuard no_grad;
    for (const char* name : {"query.bias", "key.bias"}) parameter(*attention, name).zero_();
    const auto weights = [&](double size) { return attention->weights({.queries = x * size, .context = x * size}); };
    CHECK((distance(weights(1), weights(1e3)) < 1e-3) == norm);
    CHECK((weights(1e3).amax().item<double>() > 0.999) == !norm);
  }
}

TEST_CASE("without QK norm softmax is what it was, bit by bit, and has no parameter more") {
  const auto attention = make(section("softmax", {{"qk_norm", false}}));
  CHECK(attention->parameters().size() == 8);
  CHECK(section("softmax") == section("softmax", {{"qk_norm", false}}));
  const auto x = random_tokens(2, 9, 2);
  const auto of = [&](const char* name) {
    const auto& module = *attention;
    return ablate::linear(x, parameter(module, name + std::string(".weight")), parameter(module, name + std::string(".bias")));
  };
  const auto heads = [&](const char* name) { return ablate::split_heads(of(name), 2); };
  const auto read = ablate::merge_heads(ablate::scaled_dot_product_attention(heads("query"), heads("key"), heads("value")));
  CHECK(ablate::linear(read, parameter(*attention, "output.weight"), parameter(*attention, "output.bias"))
            .equal(run(*attention, {x})));
}
