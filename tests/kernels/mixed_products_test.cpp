// Products of bfloat16 with float32 sums: their rounding, NaN and infinities, and the switch for all products of a process.
#include "core/kernels/mixed_products.h"

#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/kernels/affine.h"
#include "core/kernels/choice.h"
#include "core/kernels/decayed_sums.h"
#include "core/kernels/delta_rule.h"
#include "core/kernels/feed_forward.h"
#include "core/kernels/softmax_attention.h"
#include "tests/kernels/mixed.h"
#include "tests/kernels/results.h"
#include "tests/support/skip.h"

using namespace ablate;
using namespace ablate::test;

namespace {

struct Size {
  int m, n, k;
  bool add = false;
};

const std::vector<Size> kSizes = {{64, 64, 64},  {16, 16, 16},        {16, 48, 16, true}, {64, 16, 48},  {32, 256, 32},
                                  {256, 64, 32}, {48, 80, 320, true}, {64, 64, 512},      {320, 320, 64}};

/// Returns the matrix product a b, plus c if `add`, by the function that forms use now. The rows of a, b and c have gaps
/// between them in memory.
Tensor by_product(const Tensor& a, const Tensor& b, const Tensor& c, bool add) {
  const auto apart = [](const Tensor& x) { return pad(x, {0, 3}); };
  const auto left = apart(a), right = apart(b);
  auto to = apart(c);
  kernels::product()(static_cast<int>(a.size(0)), static_cast<int>(b.size(1)), static_cast<int>(a.size(1)),
                     left.const_data_ptr<float>(), static_cast<int>(left.size(1)), right.const_data_ptr<float>(),
                     static_cast<int>(right.size(1)), to.mutable_data_ptr<float>(), static_cast<int>(to.size(1)), add);
  CHECK(to.narrow(1, c.size(1), 3).eq(0).all().item<bool>());  // memory between rows is not changed
  return to.narrow(1, 0, c.size(1));
}

Tensor rounded(const Tensor& x) { return x.to(c10::kBFloat16).to(kDouble); }

}  // namespace

TEST_CASE("a mixed product rounds its factors to bfloat16 and sums in float32") {
  if (kernels::mixed_instructions().empty()) return skip("this processor has no instructions for products of bfloat16");
  const Mixed mixed;
  for (const auto& [m, n, k, add] : kSizes) {
    INFO(m << " " << n << " " << k);
    const auto a = normal({m, k}, 1, 1), b = normal({k, n}, 1, 2), c = normal({m, n}, 1, 3);
    const auto before = add ? c.to(kDouble) : zeros({m, n}, TensorOptions(kDouble));
    const auto found = by_product(a, b, c, add);
    CHECK(off({found}, {before + rounded(a).matmul(rounded(b))}) < 1e-6);
    const auto exact = before + a.to(kDouble).matmul(b.to(kDouble));
    CHECK(off({found}, {exact}) < 1e-2);
    CHECK(off({found}, {exact}) > 1e-4);                                      // fails if neither factor is rounded
    CHECK(off({found}, {before + rounded(a).matmul(b.to(kDouble))}) > 1e-4);  // fails if only one factor is rounded
  }
}

TEST_CASE("a mixed product preserves NaN, infinities and numbers beyond bfloat16") {
  if (kernels::mixed_instructions().empty()) return skip("this processor has no instructions for products of bfloat16");
  const Mixed mixed;
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const double odd : {std::nan(""), -std::nan(""), kInfinite, -kInfinite, 3.4e38}) {
    INFO(odd);
    auto a = normal({16, 16}, 1, 1), b = normal({16, 32}, 1, 2);
    a.select(0, 3).narrow(0, 5, 1).fill_(odd);
    b.select(0, 5).fill_(1);  // so that the sign of infinity is known
    const auto found = by_product(a, b, zeros({16, 32}, TensorOptions(kFloat)), false);
    const auto row = found.select(0, 3);
    if (std::isnan(odd))
      CHECK(row.isnan().all().item<bool>());
    else
      CHECK(row.eq(odd > 0 ? kInfinite : -kInfinite).all().item<bool>());  // 3.4e38 rounds to infinity
    CHECK(found.narrow(0, 4, 12).isfinite().all().item<bool>());
  }
}

TEST_CASE("a mixed product preserves NaN and infinity in its second factor, in either row of a pair") {
  if (kernels::mixed_instructions().empty()) return skip("this processor has no instructions for products of bfloat16");
  const Mixed mixed;
  for (const std::int64_t row : {4, 5}) {
    const auto a = normal({16, 16}, 1, 1).abs() + 1;
    auto b = normal({16, 32}, 1, 2);
    b.select(0, row).narrow(0, 7, 1).fill_(std::nan(""));
    b.select(0, row).narrow(0, 9, 1).fill_(std::numeric_limits<double>::infinity());
    const auto found = by_product(a, b, zeros({16, 32}, TensorOptions(kFloat)), false);
    CHECK(found.select(1, 7).isnan().all().item<bool>());
    CHECK(found.select(1, 9).eq(std::numeric_limits<double>::infinity()).all().item<bool>());
    CHECK(found.isfinite().sum().item<std::int64_t>() == 16 * 30);
  }
}

namespace {

/// Output and all gradients of an operation.
using Results = std::function<std::vector<Tensor>()>;

std::vector<Tensor> with_gradients_of(const std::vector<Tensor>& drawn,
                                      const std::function<Tensor(const std::vector<Tensor>&)>& made) {
  std::vector<Tensor> inputs;
  for (const auto& one : drawn) inputs.push_back(one.detach().requires_grad_());
  const auto y = made(inputs);
  std::vector<Tensor> all{y.detach()};
  for (const auto& gradient : torch::autograd::grad({y}, inputs, {normal(y.sizes(), 1, 99)})) all.push_back(gradient);
  return all;
}

std::vector<Tensor> draws(const std::vector<std::vector<std::int64_t>>& sizes) {
  std::vector<Tensor> all;
  for (const auto& one : sizes) all.push_back(normal(one, 0.5, 10 + all.size()));
  return all;
}

/// Fused form of each operation: values, and gradients of all factors.
const std::vector<std::pair<const char*, Results>> kOperations = {
    {"affine",
     [] {
       return with_gradients_of(draws({{130, 64}, {48, 64}}),
                                [](const auto& in) { return kernels::fused_affine(in[0], in[1], {}); });
     }},
    {"softmax attention",
     [] {
       return with_gradients_of(draws({{2, 2, 130, 32}, {2, 2, 130, 32}, {2, 2, 130, 32}}),
                                [](const auto& in) { return kernels::fused_softmax_attention(in[0], in[1], in[2], {}, true); });
     }},
    {"feed-forward part",
     [] {
       return with_gradients_of(draws({{2, 65, 32}, {64, 32}, {32, 64}}), [](const auto& in) {
         const auto one = [&](std::int64_t size) { return ones({size}, TensorOptions(kFloat)); };
         return kernels::feed_forward(in[0], {one(32), one(32), in[1], one(64), in[2], one(32)}, kernels::Choice::kFused);
       });
     }},
    {"decayed sums",
     [] {
       return with_gradients_of(draws({{2, 2, 130, 32}, {2, 2, 130, 32}, {2, 2, 130, 32}}), [](const auto& in) {
         const auto decay = ones({1, 2, 130, 1}, TensorOptions(kFloat)) * -0.1;
         return kernels::fused_decayed_sums(in[0], in[1], in[2], decay, {}).values;
       });
     }},
    {"delta rule",
     [] {
       return with_gradients_of(draws({{2, 2, 130, 32}, {2, 2, 130, 32}, {2, 2, 130, 32}}), [](const auto& in) {
         const auto half = ones({2, 2, 130, 1}, TensorOptions(kFloat)) * 0.5;
         const auto k = in[1] / (in[1] * in[1]).sum(-1, true).sqrt();
         return kernels::fused_delta_rule(
                    {.q = in[0], .k = k, .v = in[2], .erase = half, .write = half, .log_decay = {}, .state = {}})
             .values;
       });
     }},
};

}  // namespace

TEST_CASE("every operation's form uses mixed products, for values and gradients, with any number of threads") {
  if (kernels::mixed_instructions().empty()) return skip("this processor has no instructions for products of bfloat16");
  for (const auto& [name, results] : kOperations) {
    const auto exact = results();
    const Mixed mixed;
    const auto found = results();
    for (std::size_t i = 0; i < exact.size(); ++i) {
      INFO(name << ", result number " << i);
      const auto off = ((found[i] - exact[i]).norm() / exact[i].norm()).item<double>();
      CHECK(off < 2e-2);
      CHECK(off > 1e-4);
    }
    CHECK(same_bits(results(), found));
    const Threads four(4);
    CHECK(found[0].equal(results()[0]));
  }
}

TEST_CASE("products are float32 before and after mixed products are used, and if the processor has no mixed products") {
  const auto a = normal({64, 64}, 1, 1), b = normal({64, 64}, 1, 2), none = zeros({64, 64}, TensorOptions(kFloat));
  if (kernels::instructions().empty()) {
    CHECK(kernels::mixed_instructions().empty());
    return;
  }
  const auto before = by_product(a, b, none, false);
  CHECK(off({before}, {a.to(kDouble).matmul(b.to(kDouble))}) < kNear);
  if (kernels::mixed_instructions().empty()) {
    CHECK_THROWS_AS(kernels::multiply_mixed(true), std::logic_error);
  } else {
    CHECK(kernels::instructions() == "avx512");
    const Mixed mixed;
    CHECK_FALSE(by_product(a, b, none, false).equal(before));
  }
  CHECK(by_product(a, b, none, false).equal(before));
}
