// Products of bfloat16 with float32 sums: what they round, what they leave, and that one switch turns all of a process's.
#include "core/kernels/mixed_products.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/kernels/choice.h"
#include "tests/kernels/mixed.h"
#include "tests/kernels/results.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::test;

namespace {

struct Size {
  int m, n, k;
  bool add = false;
};

const std::vector<Size> kSizes = {{64, 64, 64},  {16, 16, 16},  {16, 48, 16, true}, {64, 16, 48},
                                  {32, 256, 32}, {256, 64, 32}, {48, 80, 320, true}};

/// c + a b by the product that forms are handed now; rows of all three stand further apart than they are long.
Tensor by_product(const Tensor& a, const Tensor& b, const Tensor& c, bool add) {
  const auto apart = [](const Tensor& x) { return pad(x, {0, 3}); };
  const auto left = apart(a), right = apart(b);
  auto to = apart(c);
  kernels::product()(static_cast<int>(a.size(0)), static_cast<int>(b.size(1)), static_cast<int>(a.size(1)),
                     left.const_data_ptr<float>(), static_cast<int>(left.size(1)), right.const_data_ptr<float>(),
                     static_cast<int>(right.size(1)), to.mutable_data_ptr<float>(), static_cast<int>(to.size(1)), add);
  return to.narrow(1, 0, c.size(1));
}

Tensor rounded(const Tensor& x) { return x.to(c10::kBFloat16).to(kDouble); }

}  // namespace

TEST_CASE("a mixed product is that of its numbers rounded to bfloat16, summed in float32") {
  if (kernels::mixed_instructions().empty()) return;
  const Mixed mixed;
  for (const auto& [m, n, k, add] : kSizes) {
    INFO(m << " " << n << " " << k);
    const auto a = normal({m, k}, 1, 1), b = normal({k, n}, 1, 2), c = normal({m, n}, 1, 3);
    const auto before = add ? c.to(kDouble) : zeros({m, n}, TensorOptions(kDouble));
    const auto found = by_product(a, b, c, add);
    CHECK(off({found}, {before + rounded(a).matmul(rounded(b))}) < 1e-6);
    const auto exact = before + a.to(kDouble).matmul(b.to(kDouble));
    CHECK(off({found}, {exact}) < 1e-2);
    CHECK(off({found}, {exact}) > 1e-4);                                      // nothing would be rounded
    CHECK(off({found}, {before + rounded(a).matmul(b.to(kDouble))}) > 1e-4);  // nor of the one alone
  }
}

TEST_CASE("a mixed product keeps NaN, infinities and what lies beyond bfloat16") {
  if (kernels::mixed_instructions().empty()) return;
  const Mixed mixed;
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const double odd : {std::nan(""), -std::nan(""), kInfinite, -kInfinite, 3.4e38}) {
    INFO(odd);
    auto a = normal({16, 16}, 1, 1), b = normal({16, 32}, 1, 2);
    a.select(0, 3).narrow(0, 5, 1).fill_(odd);
    auto ones_in_row = b.select(0, 5);
    ones_in_row.fill_(1);
    const auto found = by_product(a, b, zeros({16, 32}, TensorOptions(kFloat)), false);
    const auto row = found.select(0, 3);
    if (std::isnan(odd))
      CHECK(row.isnan().all().item<bool>());
    else
      CHECK(row.eq(odd > 0 ? kInfinite : -kInfinite).all().item<bool>());  // 3.4e38 rounds to infinity
    CHECK(found.narrow(0, 4, 12).isfinite().all().item<bool>());
  }
}

TEST_CASE("products are float32's before and after, and where no instructions are faster") {
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
