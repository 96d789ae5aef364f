// Growth of costs: growth above the declaration must be found. Growth as declared, or slower, must pass.
#include "core/trial/conformance/plugin/cost.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <random>

#include "ablate/headwise.h"
#include "core/trial/device/tensor_memory.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

/// Allocates the [n, n] matrix of weights.
class Dense final : public HeadwiseAttention {
 public:
  explicit Dense(const AttentionContext& context) : HeadwiseAttention(context, 1) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    return {.values = input.q.matmul(input.k.transpose(-1, -2)).softmax(-1).matmul(input.v)};
  }
};

/// Returns the check of memory, or of time if `timed`, of a Dense attention with a declared exponent.
template <int declared>
Check cost_check(bool timed) {
  static const auto descriptor =
      tests::attention_of<Dense>({.id = "dense",
                                  .version = "1.0.0",
                                  .summary = "dense",
                                  .capabilities = {.time_exponent = declared, .memory_exponent = declared}});
  count_tensor_memory();
  at::set_num_threads(1);
  Checks checks;
  check_cost(tests::candidate_of(descriptor), timed, checks);
  REQUIRE(checks.all().size() == 1);
  return checks.all()[0];
}

/// Returns costs by a law, in the form that growth() takes.
MeasureCosts law(const std::function<double(double)>& cost) {
  return [=](std::span<const std::int64_t> lengths) {
    std::vector<double> all;
    for (const auto n : lengths) all.push_back(cost(static_cast<double>(n)));
    return all;
  };
}

}  // namespace

TEST_CASE("a matrix of weights is no linear cost", "[cost]") {
  const auto memory = cost_check<1>(false), time = cost_check<1>(true);
  INFO(memory.found << "; " << time.found);
  CHECK(memory.failed());
  CHECK(memory.error == Approx(1).margin(0.1));
  // Noise cannot reverse this result: at twice the length, the work is four times as large, and twice as large was declared.
  CHECK(time.name == "time");
  CHECK(time.failed());
  CHECK(cost_check<2>(false).passed());
  CHECK(cost_check<3>(false).passed());
}

TEST_CASE("the exponent is the power of the length", "[cost]") {
  for (const double power : {0.0, 1.0, 1.5, 2.0, 3.0})
    for (const std::size_t count : {2, 3, 4}) {
      std::vector<double> costs;
      for (std::size_t i = 0; i < count; ++i) costs.push_back(7 * std::exp2(power * static_cast<double>(i)));
      CHECK(exponent(costs) == Approx(power).margin(1e-12));
    }
}

TEST_CASE("growth separates linear from quadratic costs despite caches, fixed costs and noise", "[cost]") {
  constexpr double most = 1.5;  // linear, plus the tolerance of the check "time"
  const auto found = [&](const std::function<double(double)>& cost) { return growth(law(cost), most); };
  CHECK(found([](double n) { return n; }).lengths == 3);
  CHECK(found([](double n) { return n * std::log2(n); }).exponent < most);
  CHECK(found([](double n) { return 3000 + n; }).exponent < 1);
  for (const double edge : {1500.0, 3000.0, 6000.0}) {  // the cost doubles beyond the cache
    const auto cached = found([&](double n) { return n > edge ? 2 * n : n; });
    INFO("edge " << edge << ": " << cached.exponent);
    CHECK(cached.exponent <= most);
  }
  const auto dear = found([](double n) { return n > 3000 ? 2.2 * n : n; });  // too steep over three lengths, but not over four
  CHECK(dear.lengths == 4);
  CHECK(dear.exponent <= most);
  const auto quadratic = found([](double n) { return n * n; });
  CHECK(quadratic.lengths == 4);
  CHECK(quadratic.exponent == Approx(2));
  CHECK(found([](double n) { return 1000 * n + n * n; }).exponent > most);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const auto noise = [&] { return 1 + 0.3 * static_cast<double>(random() >> 11) * 0x1p-53; };  // noise of a busy machine
    CHECK(found([&](double n) { return n * noise(); }).exponent <= most);
    CHECK(found([&](double n) { return n * n * noise(); }).exponent > most);
  }
}
