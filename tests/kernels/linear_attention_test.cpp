// Fused layer of linear attention against its equation in float64, with torch's own gradients.
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
using test::normal;
using test::off;
using test::output;
using test::results;
using test::same_bits;
using test::Threads;

TEST_CASE("both forms of linear attention give the equation's values and gradients") {
  for (const int threads : {1, 2})
    for (const auto map : {FeatureMap::kElu, FeatureMap::kRelu})
      for (const bool masked : {false, true})
        for (const auto& [d, heads, d_head] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{64, 2, 32},
                                               {32, 1, 32},
                                               {64, 4, 16},
                                               {48, 1, 16},
                                               {16, 2, 48}})
          for (const auto& [n, keys] :
               {std::pair<std::int64_t, std::int64_t>{1, 0}, {63, 0}, {64, 0}, {65, 0}, {300, 0}, {7, 130}, {130, 7}}) {
            const Case of{3, n, keys, d, heads, d_head, map, masked};
            INFO(threads << " threads, relu " << (map == FeatureMap::kRelu) << ", masked " << masked << ", " << d
                         << " channels, " << heads << " heads of " << d_head << ", " << n << " queries, " << keys << " keys");
            const Threads with(threads);
            test::check_forms(of);
          }
}

TEST_CASE("masked keys, even NaN, change nothing, and a query without keys reads 0") {
  const Case of{3, 100, 0, 64, 2, 32, FeatureMap::kElu, true};
  auto inputs = inputs_of(of);
  const auto mask = mask_of(of);
  const auto before = results(of, inputs, true, mask);
  inputs[0] = inputs[0].masked_fill(mask.logical_not().unsqueeze(-1), std::numeric_limits<float>::quiet_NaN());
  const auto after = results(of, inputs, true, mask);
  const auto counted = mask.unsqueeze(-1);
  CHECK(before[0].masked_select(counted).equal(after[0].masked_select(counted)));
  for (std::size_t i = 1; i < before.size(); ++i) CHECK(before[i].equal(after[i]));
  const auto bias = inputs.back();  // the last item has no key left
  CHECK((before[0][2] - bias).abs().max().item<double>() == 0);
}

TEST_CASE("an item's bits do not depend on its batch") { test::check_alone({3, 100, 0, 64, 2, 32, FeatureMap::kElu, false}); }

TEST_CASE("linear attention has a fused form if sizes are whole vectors and fit a cache") {
  const bool here = !kernels::instructions().empty();
  const auto is_fused = [](std::int64_t d, std::int64_t heads, std::int64_t d_head) {
    const Case of{2, 40, 0, d, heads, d_head, FeatureMap::kElu, false};
    return !same_bits(results(of, true), results(of, false));
  };
  CHECK(is_fused(64, 2, 32) == here);
  CHECK(is_fused(256, 16, 16) == here);
  CHECK(!is_fused(64, 8, 8));
  CHECK(!is_fused(24, 1, 16));
  CHECK(!is_fused(272, 1, 16));
}

TEST_CASE("errors of a wrong layer exceed rounding") {
  const Case of{3, 100, 0, 64, 2, 32, FeatureMap::kElu, true};
  test::check_wrong(of, 0.001);
}

TEST_CASE("0 sequences, 0 queries and 0 keys are accepted, and a query without keys gives the bias") {
  for (const auto map : {FeatureMap::kElu, FeatureMap::kRelu})
    for (const bool masked : {false, true})
      for (const auto& [batch, n, keys] :
           {std::tuple<std::int64_t, std::int64_t, std::int64_t>{0, 5, 7}, {2, 0, 7}, {2, 5, 0}}) {
        INFO(batch << " sequences, " << n << " queries, " << keys << " keys, masked " << masked);
        const Case of{batch, n, 1, 16, 1, 16, map, masked};
        auto inputs = inputs_of(of);
        inputs[1] = normal({batch, keys, 16}, 1, 2);
        const auto found = results(of, inputs, true, masked ? ones({batch, keys}, kBool) : Tensor());
        REQUIRE(found[0].sizes().equals({batch, n, 16}));
        CHECK((found[0] - inputs.back()).abs().sum().item<double>() == 0);
        for (std::size_t i = 1; i + 1 < found.size(); ++i) CHECK(found[i].abs().sum().item<double>() == 0);
      }
}

TEST_CASE("views are accepted, and gradients may be of some inputs, of no input, or of a sum") {
  for (const std::int64_t keys : {0, 70}) {
    const Case of{3, 100, keys, 64, 2, 32, FeatureMap::kElu, true};
    const auto inputs = inputs_of(of);
    const auto mask = mask_of(of);
    const auto expected = results(of, inputs, true, mask);
    auto views = inputs;
    for (auto& view : views)
      if (view.dim() > 1) view = view.transpose(-1, -2).contiguous().transpose(-1, -2);
    CHECK(same_bits(results(of, views, true, mask.t().contiguous().t()), expected));

    const std::size_t tokens = keys == 0 ? 1 : 2;
    for (const bool of_tokens : {true, false}) {  // tokens only, or the weights only
      std::vector<Tensor> some, trained;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        some.push_back(inputs[i].detach());
        if ((i < tokens) == of_tokens) trained.push_back(some.back().requires_grad_());
      }
      const auto y = output(of, some, true, mask);
      const auto begin = expected.begin() + 1, end = begin + static_cast<std::ptrdiff_t>(tokens);
      CHECK(same_bits(torch::autograd::grad({y}, trained, {normal(y.sizes(), 1, 20)}),
                      of_tokens ? std::vector(begin, end) : std::vector(end, expected.end())));
    }
    const auto summed = [&](std::vector<Tensor> all, bool fused) {  // the gradient's strides are 0
      for (auto& input : all) input = input.detach().requires_grad_();
      return torch::autograd::grad({output(of, all, fused, mask).sum()}, all);
    };
    CHECK(off(summed(inputs, true), summed(in_double(inputs), false)) < kFloatRounding);
    NoGradGuard no_grad;
    auto learned = inputs;
    for (auto& input : learned) input = input.detach().requires_grad_();
    CHECK_FALSE(output(of, learned, true, mask).requires_grad());
    CHECK(output(of, learned, true, mask).equal(expected[0]));
  }
}

TEST_CASE("other sizes and expanded masks go to the reference, which accepts or refuses them") {
  const Case of{3, 40, 70, 64, 2, 32, FeatureMap::kElu, false};
  const auto inputs = inputs_of(of);
  auto wider = inputs;  // values of 48 channels a head, keys of 32
  wider[6] = normal({96, 64}, 0.2, 30), wider[7] = normal({96}, 0.2, 31), wider[8] = normal({64, 96}, 0.2, 32);
  CHECK(off(results(of, wider, true, {}), results(of, in_double(wider), false, {})) < kFloatRounding);
  auto other = inputs;
  other[9] = full({1}, 0.5);
  CHECK(off(results(of, other, true, {}), results(of, in_double(other), false, {})) < kFloatRounding);
  const auto of_keys = arange(70).unsqueeze(0) > 30, of_items = arange(3).unsqueeze(1) > 0;
  for (const auto& mask : {of_keys, of_items}) {
    const auto whole = mask.expand({3, 70}).contiguous();
    CHECK(off(results(of, inputs, true, mask), results(of, in_double(inputs), false, whole)) < kFloatRounding);
    CHECK(off(results(of, inputs, true, mask.expand({3, 70})), results(of, in_double(inputs), false, whole)) < kFloatRounding);
  }

  const auto refused = [&](std::size_t i, const Tensor& instead, std::int64_t heads = 2) {
    INFO(i);
    auto all = inputs;
    all[i] = instead;
    auto in_heads = of;
    in_heads.heads = heads;
    NoGradGuard no_grad;
    CHECK_THROWS_AS(output(in_heads, all, true, {}), c10::Error);
  };
  for (const std::int64_t heads : {0, -1, 3}) refused(0, inputs[0], heads);
  refused(1, inputs[1].narrow(0, 0, 2));
  for (std::size_t i = 1; i < inputs.size(); ++i) refused(i, inputs[i].narrow(-1, 0, inputs[i].size(-1) - 16).contiguous());
  refused(4, inputs[4].narrow(0, 0, 48).contiguous()), refused(6, inputs[6].narrow(0, 0, 48).contiguous());
  NoGradGuard no_grad;
  CHECK_THROWS_AS(output(of, inputs, true, ones({3, 69}, kBool)), c10::Error);
}

TEST_CASE("linear attention throws if a second derivative is needed") {
  const Case of{2, 8, 0, 16, 1, 16, FeatureMap::kElu, false};
  for (const bool fused : {true, false}) {
    auto inputs = inputs_of(of);
    inputs[0].requires_grad_();
    const auto y = output(of, inputs, fused, {}).sum();
    CHECK_THROWS_AS(torch::autograd::grad({y}, {inputs[0]}, {}, true, true), std::runtime_error);
    CHECK(torch::autograd::grad({y}, {inputs[0]})[0].defined());
  }
}
