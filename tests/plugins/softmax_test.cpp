// Softmax attention against its equation, one query at a time.
#include "tests/plugins/equations.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

enum class Scope { kHead, kAllHeads };  ///< channels that one norm covers; kAllHeads is wrong

/// Computes softmax attention with QK norm for one item (Henry et al. 2020). Rotary positions come after the norm.
/// @param x [n, kChannels]
/// @param scope,gain right by default; other values make wrong variants
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
  parameter(*attention, "gain").copy_(normal({heads, 1, 1}, 5) + 3);  // different from its initial value
  return attention;
}

}  // namespace

TEST_CASE("softmax equals its equation") {
  for (const std::int64_t heads : {1, 4})
    for (const bool causal : {false, true})
      for (const bool cross : {false, true}) {
        const auto attention = make(section("softmax", {{"heads", heads}}), 1, {.causal = causal});
        INFO("heads " << heads << ", causal " << causal << ", cross " << cross);
        CHECK(off(*attention, "softmax", heads, causal, cross) < 1e-12);
      }
}

TEST_CASE("heads that do not divide the channels are refused by name") {
  CHECK_THROWS_WITH(make(section("softmax", {{"heads", 3}})),
                    Catch::Matchers::Contains("heads = 3 does not divide d_model = 16"));
}

TEST_CASE("holes do not change present tokens, also holes before the first token") {
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

TEST_CASE("QK norm equals softmax of queries and keys divided by their root mean square, in values and gradients") {
  for (const std::int64_t heads : {1, 4})
    for (const bool causal : {false, true})
      for (const bool rotary : {false, true}) {
        INFO("heads " << heads << ", causal " << causal << ", rotary " << rotary);
        const auto attention = with_norm(heads, causal, rotary);
        check_equation(*attention, {9, 4, 1}, [&](const auto& own) { return normed(*attention, heads, own, causal, rotary); });
        const auto x = random_tokens(3, 9, 2)[0];
        const auto found = run(*attention, {x.unsqueeze(0)}).squeeze(0);
        // A reference without the gain differs, and so does a reference with one norm over the channels of all heads.
        CHECK(distance(found, normed(*attention, heads, x, causal, rotary, Scope::kHead, false)) > 1e-3);
        if (heads > 1) CHECK(distance(found, normed(*attention, heads, x, causal, rotary, Scope::kAllHeads)) > 1e-3);
      }
}

TEST_CASE("QK norm bounds scores: inputs a thousand times larger change almost nothing; plain softmax would select one key") {
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

TEST_CASE("without QK norm, softmax is unchanged, bit by bit, and has no extra parameter") {
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

namespace {

/// Computes one item, x [n, d_model]. Each head divides by the sum of its weights plus exp(sink). A sink has no value vector.
ablate::Tensor beside_sink(const ablate::Attention& attention, std::int64_t heads, const ablate::Tensor& x, bool causal,
                           const ablate::Tensor& sink) {
  const auto split = [&](const char* name) { return layer(attention, name, x).unflatten(-1, {heads, -1}); };
  const auto q = split("query"), k = split("key"), v = split("value");  // [n, heads, d]
  std::vector<ablate::Tensor> rows;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    std::vector<ablate::Tensor> parts;
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto seen = causal ? i + 1 : x.size(0);
      const auto weights = similarity("softmax", q[i][h], k.narrow(0, 0, seen).select(1, h));
      parts.push_back(weights.matmul(v.narrow(0, 0, seen).select(1, h)) / (weights.sum() + sink[h].exp()));
    }
    rows.push_back(ablate::cat(parts));
  }
  return layer(attention, "output", ablate::stack(rows));
}

}  // namespace

TEST_CASE("softmax with a sink equals its equation, padded and not, with gradients; a sink of 0 differs from no sink") {
  for (const bool causal : {false, true}) {
    INFO("causal " << causal);
    const auto attention = make(section("softmax", {{"heads", 2}, {"sink", true}}), 1, {.causal = causal});
    const auto sink = parameter(*attention, "sink");
    CHECK(sink.abs().max().item<double>() == 0);
    {
      const ablate::NoGradGuard none;
      sink.copy_(normal({2}, 7) * 2);
    }
    check_equation(*attention, {9, 4}, [&](const auto& own) { return beside_sink(*attention, 2, own, causal, sink); });
    const auto x = random_tokens(2, 9, 2);
    for (const auto& own : {x[0], x[1].narrow(0, 0, 4)})
      CHECK(distance(beside_sink(*attention, 2, own, causal, sink), beside_sink(*attention, 2, own, causal, sink * 0)) > 1e-3);
    // A sink far below all scores has no effect.
    const auto plain = make(section("softmax", {{"heads", 2}}), 1, {.causal = causal});
    const ablate::NoGradGuard none;
    copy_parameters(*attention, *plain);
    sink.fill_(-100);
    CHECK(distance(run(*attention, {x}), run(*plain, {x})) < 1e-13);
  }
}

TEST_CASE("softmax with shared keys and values equals softmax with repeated keys and values, rotary and not") {
  constexpr std::int64_t heads = 4, d = kChannels / heads;
  for (const std::int64_t own : {1, 2, 4})
    for (const bool causal : {false, true})
      for (const auto positions : {ablate::Positions::kNone, ablate::Positions::kRotary}) {
        INFO("key_value_heads " << own << ", causal " << causal << ", rotary " << (positions == ablate::Positions::kRotary));
        const ablate::AttentionPlace place{.causal = causal, .positions = positions};
        const auto attention = make(section("softmax", {{"heads", heads}, {"key_value_heads", own}}), 1, place);
        const auto plain = make(section("softmax", {{"heads", heads}}), 1, place);
        const auto set = [&](std::int64_t shift) {
          const ablate::NoGradGuard none;
          for (auto& entry : plain->parameters()) {
            const auto shared = parameter(*attention, entry.name);
            const bool repeats = entry.name.starts_with("key") || entry.name.starts_with("value");
            entry.tensor.copy_(
                !repeats ? shared
                         : shared.unflatten(0, {own, d}).repeat_interleave(heads / own, 0).roll(shift, 0).flatten(0, 1));
          }
        };
        set(0);
        const auto x = random_tokens(2, 9, 2).requires_grad_(), weights = random_tokens(2, 9, 3);
        const auto mask = mask_of(9, {9, 4}), real = mask.unsqueeze(-1);
        const auto output = run(*attention, {x, {}, mask}) * real, expected = run(*plain, {x, {}, mask}) * real;
        CHECK(distance(output, expected) < 1e-13);
        const auto in_x = [&](const ablate::Tensor& of) { return torch::autograd::grad({(of * weights).sum()}, {x})[0]; };
        CHECK(distance(in_x(output), in_x(expected)) < 1e-12);
        if (own == 1) continue;  // a single key head cannot be exchanged
        set(1);
        CHECK(distance(output, run(*plain, {x, {}, mask}) * real) > 1e-3);
      }
  CHECK_THROWS_WITH(make(section("softmax", {{"heads", 4}, {"key_value_heads", 3}})),
                    Catch::Matchers::Contains("key_value_heads = 3 does not divide heads = 4"));
}

TEST_CASE("softmax's span is the weighted mean distance from a query to its keys, on the first examples") {
  const auto x = random_tokens(3, 70, 2);  // more than the 64 rows for which weights are computed at a time
  const std::vector<std::int64_t> lengths = {70, 7, 0};
  const auto asked = [](const nlohmann::json& more, bool causal) {
    nlohmann::json values = {{"heads", 2}, {"span_examples", 2}};
    values.update(more);
    return make(section("softmax", values), 1, {.causal = causal});
  };
  const auto span = [&](ablate::Attention& attention, const Tensor& mask) {
    const auto metrics = pass(attention, {.queries = x, .mask = mask, .measure = true}).metrics;
    REQUIRE(metrics.size() == 1);
    CHECK(metrics[0].name == "span");
    CHECK(metrics[0].unit == "tokens");
    return metrics[0].value;
  };
  for (const bool causal : {false, true}) {
    INFO("causal " << causal);
    const auto attention = asked(nlohmann::json::object(), causal);
    double sum = 0, count = 0;
    for (std::int64_t item = 0; item < 2; ++item) {
      const auto n = lengths[static_cast<std::size_t>(item)];
      const auto own = x[item].narrow(0, 0, n);
      const auto split = [&](const char* name) { return layer(*attention, name, own).unflatten(-1, {2, -1}); };
      const auto q = split("query"), k = split("key");  // [n, heads, d]
      for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t i = 0; i < n; ++i) {
          const auto seen = causal ? i + 1 : n;
          const auto weights = similarity("softmax", q[i][h], k.narrow(0, 0, seen).select(1, h));
          const auto far = (ablate::arange(seen).to(ablate::kDouble) - static_cast<double>(i)).abs();
          sum += (weights * far).sum().item<double>() / weights.sum().item<double>();
          ++count;
        }
    }
    CHECK(span(*attention, mask_of(70, lengths)) == Approx(sum / count).epsilon(1e-10));
    CHECK(pass(*attention, {.queries = x, .mask = mask_of(70, {0, 0, 5}), .measure = true}).metrics.empty());
    CHECK(pass(*attention, {.queries = x}).metrics.empty());
    // With equal weights, the span is the mean of |i - j|.
    const ablate::NoGradGuard none;
    for (const char* name : {"query.weight", "query.bias"}) parameter(*attention, name).zero_();
    const double n = 70;
    CHECK(span(*attention, {}) == Approx(causal ? (n - 1) / 4 : (n * n - 1) / (3 * n)).epsilon(1e-12));
  }
  // Measuring changes no output, and a sink reduces all weights of a query by the same factor, so the span is equal.
  const auto plain = asked({{"span_examples", 0}}, false), looked = asked(nlohmann::json::object(), false),
             sunk = asked({{"sink", true}}, false);
  CHECK(pass(*plain, {.queries = x, .measure = true}).metrics.empty());
  CHECK(run(*plain, {x}).equal(pass(*looked, {.queries = x, .measure = true}).output));
  CHECK(span(*sunk, {}) == Approx(span(*looked, {})).epsilon(1e-12));
}
