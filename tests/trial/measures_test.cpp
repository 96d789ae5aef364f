// Measurements of a trial besides its scores: times, memory, and reports of an attention.
#include "ablate/headwise.h"
#include "core/trial/device/tensor_memory.h"
#include "core/trial/training/observer.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

/// Reports values with known means, and has a buffer with a number that float32 cannot represent.
class Reporting final : public HeadwiseAttention {
 public:
  static constexpr std::int64_t kOdd = (1 << 24) + 1;

  explicit Reporting(const AttentionContext& context) : HeadwiseAttention(context, 1), layer_(made++ % 2) {
    count_ = register_buffer("count", full({1}, kOdd, at::kLong));
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (count_.scalar_type() != at::kLong || count_.item<std::int64_t>() != kOdd)
      throw std::runtime_error("a buffer of integers was cast");
    HeadOutput result{.values = input.v + 0 * (input.q + input.k)};
    if (!input.measure) return result;
    result.metrics.push_back({"batch", static_cast<double>(input.q.size(0)), "examples"});
    if (layer_ == 1) result.metrics.push_back({"of_second_layer", 7, ""});
    return result;
  }

  static inline int made = 0;
  int layer_;
  Tensor count_;
};

const Descriptor& reporting(Kind, const std::string&) {
  static constexpr auto descriptor = [] {
    auto made = ablate::detail::describe(
        Kind::kAttention,
        {.id = "reporting", .version = "1", .summary = "reports", .capabilities = {.key_padding = true}, .parameters = {}});
    made.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
      return std::make_shared<Reporting>(context);
    };
    return made;
  }();
  return descriptor;
}

}  // namespace

TEST_CASE("the forward time is part of the forward-backward time, which is part of the step time") {
  const auto values = run(json::object()).result.values;
  CHECK(values.at("train/forward_time") > 0);
  CHECK(values.at("train/forward_backward_time") > values.at("train/forward_time"));
  CHECK(values.at("train/step_time") > values.at("train/forward_backward_time"));
}

TEST_CASE("peak memory is measured in training, and does not depend on the number of evaluations") {
  count_tensor_memory();
  const auto peak = [](int every) { return run({{"evaluate_every", every}}).result.values.at("memory/peak_tensor"); };
  const auto at_the_end = peak(60);
  for (const int every : {1, 7, 30}) CHECK(peak(every) == at_the_end);
}

TEST_CASE("reports of an attention are averaged over the layers that report them, with equal weight for all examples") {
  for (const char* type : {"float32", "bfloat16"}) {
    const auto ran = run({{"steps", 4}, {"batch", 30}, {"dtype", type}}, {{"plugin", "reporting"}}, 1, Majority(), reporting);
    REQUIRE(ran.failed == "");
    // 100 examples in batches of 30, 30, 30 and 10.
    CHECK(ran.result.values.at("attention/reporting/batch") == Approx((3 * 30 * 30 + 10 * 10) / 100.0));
    CHECK(ran.result.values.at("attention/reporting/of_second_layer") == 7);
    const auto metric = ran.metrics().at("attention/reporting/batch");
    CHECK(metric.unit == "examples");
    CHECK((metric.kind == MetricKind::kCount && metric.owner == MetricOwner::kMethod));
    CHECK(metric.description.find("reporting") != std::string::npos);
  }
}

TEST_CASE("the spread of times is their interquartile range, without the first step") {
  CHECK(spread({3}) == 0);
  CHECK(spread({1, 3}) == Approx(50));        // 2 +- 0.5: the first step counts if there are at most two steps
  CHECK(spread({900, 10, 10, 10, 10}) == 0);  // the first step allocates what later steps reuse
  CHECK(spread({900, 1, 2, 3, 4, 5}) == Approx(200.0 / 3));
  CHECK(spread({900, 10, 10, 10, 500, 10, 10, 10}) == 0);  // one disturbed step does not count as spread
}
