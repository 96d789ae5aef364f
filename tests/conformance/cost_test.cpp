// Memory that grows faster than its declaration is found; what grows as declared, or more slowly, is not.
#include "core/conformance/cost.h"

#include <ATen/ATen.h>

#include "ablate/headwise.h"
#include "core/runtime/tensor_memory.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

/// Keeps the [n, n] matrix of weights.
class Dense : public HeadwiseAttention {
 public:
  explicit Dense(const AttentionContext& context) : HeadwiseAttention(context, 1) {}
  torch::Tensor attend(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& values,
                       const torch::Tensor&) override {
    return queries.matmul(keys.transpose(-1, -2)).softmax(-1).matmul(values);
  }
};

template <int exponent>
Check memory_check() {
  static const Descriptor descriptor = [] {
    auto made = ablate::detail::describe(
        Kind::kAttention,
        {.id = "dense", .version = "1.0.0", .summary = "dense", .capabilities = {.memory_exponent = exponent}});
    made.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
      return std::make_shared<Dense>(context);
    };
    return made;
  }();
  Checks checks;
  check_cost(with_defaults(descriptor), {}, false, checks);
  REQUIRE(checks.all().size() == 1);
  return checks.all().front();
}

}  // namespace

TEST_CASE("a matrix of weights is no linear memory", "[cost]") {
  count_tensor_memory();
  const auto lying = memory_check<1>();
  INFO(lying.found);
  CHECK_FALSE(lying.passed);
  CHECK(lying.error == Approx(1).margin(0.1));
  CHECK(memory_check<2>().passed);
  CHECK(memory_check<3>().passed);
}
