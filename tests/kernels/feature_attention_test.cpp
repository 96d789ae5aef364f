// Fused layer of attention by random features against its equation in float64, with torch's own gradients.
#include "core/kernels/choice.h"
#include "tests/kernels/attention_case.h"
#include "tests/support/catch.h"

using namespace ablate;
using test::Case;
using test::exact;
using test::in_double;
using test::inputs_of;
using test::kFloatRounding;
using test::mask_of;
using test::off;
using test::output;
using test::results;
using test::same_bits;
using test::Threads;

namespace {

Case features_of(std::int64_t features, std::int64_t n = 100, bool masked = false, std::int64_t d_head = 32) {
  return {3, n, 0, 64, 64 / d_head, d_head, FeatureMap::kElu, masked, features};
}

/// Returns y of the first sequence, from a weight for each pair of query and key, without a stabiliser.
Tensor plain(const Case& of, const std::vector<Tensor>& inputs) {
  const auto wide = in_double(inputs);
  const auto by = test::projections_of(wide, 1, of.heads);
  const auto x = wide[0].slice(0, 0, 1), w = test::vectors_of(of).to(kDouble);
  const auto phi = [&](const Linear& projection) {
    const auto scaled = split_heads(projection.forward(x), of.heads) / std::pow(of.d_head, 0.25);
    return (scaled.matmul(w.transpose(-1, -2)) - scaled.square().sum(-1, true) / 2).exp();
  };
  const auto weights = phi(*by.query).matmul(phi(*by.key).transpose(-1, -2));
  const auto read = weights.matmul(split_heads(by.value->forward(x), of.heads)) / weights.sum(-1, true);
  return by.output->forward(merge_heads(read));
}

}  // namespace

TEST_CASE("both forms of attention by random features give the equation's values and gradients") {
  for (const int threads : {1, 2})
    for (const bool masked : {false, true})
      for (const auto& [d, heads, d_head, features] :
           {std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>{64, 2, 32, 32},
            {32, 1, 32, 64},
            {64, 4, 16, 16},
            {48, 1, 16, 256},
            {16, 2, 48, 32}})
        for (const auto& [n, keys] :
             {std::pair<std::int64_t, std::int64_t>{1, 0}, {63, 0}, {64, 0}, {65, 0}, {300, 0}, {7, 130}, {130, 7}}) {
          const Case of{3, n, keys, d, heads, d_head, FeatureMap::kElu, masked, features};
          INFO(threads << " threads, masked " << masked << ", " << d << " channels, " << heads << " heads of " << d_head << ", "
                       << features << " features, " << n << " queries, " << keys << " keys");
          const Threads with(threads);
          test::check_forms(of);
        }
}

TEST_CASE("the reference of random features has a weight for every query and key") {
  const auto of = features_of(32);
  const auto inputs = inputs_of(of);
  CHECK(off({output(of, in_double(inputs), false, {}).slice(0, 0, 1)}, {plain(of, inputs)}) < 1e-12);
  CHECK(off({output(of, inputs, true, {}).slice(0, 0, 1)}, {plain(of, inputs)}) < kFloatRounding);
}

TEST_CASE("exponents of hundreds, rising and falling along a sequence, give the right weights") {
  for (const bool rising : {false, true})
    for (const double size : {3., 10.}) {
      INFO("rising " << rising << ", up to " << size);
      const auto of = features_of(64, 300);
      auto inputs = inputs_of(of);
      const auto place = arange(300, kFloat) / 300;
      inputs[0] = inputs[0] * ((rising ? place : 1 - place) * size).unsqueeze(-1);
      const auto expected = results(of, in_double(inputs), false, {});
      // An exponent of 300 is rounded to 3e-5.
      const auto allowed = std::max(kFloatRounding, 3 * off(results(of, inputs, false, {}), expected));
      CHECK(allowed < 3e-3);
      CHECK(off(results(of, inputs, true, {}), expected) < allowed);
    }
}

TEST_CASE("masked keys, even large keys, change nothing, and a query without keys reads 0") {
  const auto of = features_of(32, 100, true);
  auto inputs = inputs_of(of);
  const auto mask = mask_of(of);
  const auto gone = mask.logical_not().unsqueeze(-1), counted = mask.unsqueeze(-1);
  const auto before = results(of, inputs, true, mask);
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), 0.F}) {
    inputs[0] = inputs[0].masked_fill(gone, value);
    const auto after = results(of, inputs, true, mask);
    CHECK(before[0].masked_select(counted).equal(after[0].masked_select(counted)));
    for (std::size_t i = 1; i < before.size(); ++i) CHECK(before[i].equal(after[i]));
  }
  CHECK((before[0][2] - inputs.back()).abs().max().item<double>() == 0);  // the last item has no key left
  // Masked tokens are set to 0, so their keys equal the bias. The exponents of these keys are larger than all others.
  auto holes = ones({3, 100}, kBool);
  holes.slice(1, 0, 70).fill_(false);
  inputs = inputs_of(of);
  CHECK(off(results(of, inputs, true, holes), results(of, in_double(inputs), false, holes)) < kFloatRounding);
}

TEST_CASE("an item's bits by random features do not depend on its batch or on threads") { test::check_alone(features_of(48)); }

TEST_CASE("random features have a fused form for whole vectors and heads of 16 channels or more") {
  const bool here = !kernels::instructions().empty();
  const auto is_fused = [](const Case& of) { return !same_bits(results(of, true), results(of, false)); };
  CHECK(is_fused(features_of(16)) == here);
  CHECK(is_fused(features_of(1024, 40)) == here);
  CHECK(!is_fused(features_of(24)));
  CHECK(!is_fused(features_of(1040, 40)));
  CHECK(!is_fused(features_of(32, 40, false, 8)));
}

TEST_CASE("errors of a wrong layer of random features exceed rounding") {
  const auto of = features_of(32, 100, true);
  const auto inputs = inputs_of(of);
  test::check_wrong(of, 0.003);
  const auto expected = exact(of);
  const auto by = test::projections_of(inputs, 1, of.heads);
  const auto vectors = test::vectors_of(of);
  CHECK(off({projected_feature_attention(inputs[0], inputs[0], mask_of(of), by, vectors * 1.001, true)}, {expected[0]}) >
        10 * kFloatRounding);
  CHECK(off({projected_feature_attention(inputs[0], inputs[0], mask_of(of), by, vectors.flip(0), true)}, {expected[0]}) > 0.01);
}

TEST_CASE("NaN spreads through random features in both forms alike") {
  const auto of = features_of(32, 70);
  for (const std::size_t bias : {2, 4}) {  // bias of queries, of keys
    INFO(bias);
    auto inputs = inputs_of(of);
    inputs[bias][3].fill_(std::numeric_limits<float>::quiet_NaN());  // in head 0
    const auto expected = results(of, in_double(inputs), false, {});
    CHECK(expected[0].isnan().all().item<bool>());
    for (const bool fused : {false, true}) {
      const auto found = results(of, inputs, fused, {});
      CHECK(test::same_gaps(found, expected));
      CHECK(off(test::without_gaps(found), test::without_gaps(expected)) < kFloatRounding);
    }
  }
}

TEST_CASE("random features accept 0 sequences and 0 queries, and a query without keys gives the bias") {
  for (const auto& [batch, n, keys] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{0, 5, 7}, {2, 0, 7}}) {
    const Case of{batch, n, keys, 16, 1, 16, FeatureMap::kElu, false, 16};
    CHECK(output(of, inputs_of(of), true, {}).numel() == 0);
  }
  const Case of{2, 5, 7, 16, 1, 16, FeatureMap::kElu, false, 16};
  const auto inputs = inputs_of(of);
  CHECK(output(of, inputs, true, zeros({2, 7}, kBool)).equal(inputs.back().expand({2, 5, 16})));
}
