// Right attentions whose numbers are hard to compare must pass, and similar wrong attentions must fail.
#include "ablate/headwise.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

/// Kernel attention with a rectified map and few channels: many queries have hardly any weight, so denominators are near 0.
class Rectified final : public HeadwiseAttention {
 public:
  explicit Rectified(const AttentionContext& context) : HeadwiseAttention(context, 4) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    const auto q = input.q.relu();
    auto k = input.k.relu();
    if (input.mask.defined()) k = k.masked_fill(input.mask.logical_not().unsqueeze(1).unsqueeze(-1), 0);
    Tensor products, sum;
    if (causal()) {
      products = (k.unsqueeze(-1) * input.v.unsqueeze(-2)).cumsum(2);  // [batch, heads, n, d, d]
      products = q.unsqueeze(-2).matmul(products).squeeze(-2);
      sum = (q * k.cumsum(2)).sum(-1, true);
    } else {
      products = q.matmul(k.transpose(-1, -2).matmul(input.v));
      sum = q.matmul(k.sum(2, true).transpose(-1, -2));
    }
    return {.values = products / sum.masked_fill(sum <= 0, 1)};
  }
};

/// Sum over the four largest weights of a softmax, without a normaliser. If scores are nearly equal, the four keys can change.
template <bool is_right>
class FourLargest final : public HeadwiseAttention {
 public:
  explicit FourLargest(const AttentionContext& context) : HeadwiseAttention(context, 2) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    auto scores = input.q.matmul(input.k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    if (!is_right) scores = scores * 1.01 - scores.detach() * 0.01;
    const auto weights = scores.softmax(-1);
    const auto fourth = std::get<0>(weights.detach().topk(std::min<std::int64_t>(4, weights.size(3)), -1)).amin(-1, true);
    return {.values = weights.masked_fill(weights < fourth, 0).matmul(input.v)};
  }
};

/// Softmax attention with large values. The keys' bias does not change a softmax, so its gradient is only rounding error.
/// @tparam is_right false: the gradient through the keys is a tenth too small in float32
template <bool is_right>
class Large final : public HeadwiseAttention {
 public:
  explicit Large(const AttentionContext& context) : HeadwiseAttention(context, 2) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    auto k = input.k;
    if (!is_right && k.scalar_type() == kFloat) k = k * 0.9 + k.detach() * 0.1;
    const auto scores = input.q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    return {.values = scores.softmax(-1).matmul(input.v) * 3e3};
  }
};

template <class Made>
const Descriptor& of(const Capabilities& promises) {
  static const Descriptor made =
      tests::attention_of<Made>({.id = "hard", .version = "1.0.0", .summary = "hard numbers", .capabilities = promises});
  return made;
}

}  // namespace

TEST_CASE("a rectified kernel's denominators near 0 are no fault", "[conformance]") {
  tests::Record record;
  const auto& rectified = of<Rectified>({.causal = true, .key_padding = true, .averages = true});
  CHECK(record.suite(rectified, {"long", "padding", "batch", "causal", "constants", "reach"}).empty());
}

TEST_CASE("a choice that changes within the step of a numeric gradient is no fault, and hides no fault", "[conformance]") {
  const Capabilities promises = {.sparse = true, .time_exponent = 2, .memory_exponent = 2};
  tests::Record record;
  CHECK(record.suite(of<FourLargest<true>>(promises), {"gradient"}).empty());
  CHECK(record.fails(of<FourLargest<false>>(promises), "gradient"));
}

TEST_CASE("the tolerance for a gradient of 0 follows the size of the other gradients", "[conformance]") {
  const Capabilities promises = {.time_exponent = 2, .memory_exponent = 2};
  tests::Record record;
  CHECK(record.suite(of<Large<true>>(promises), {"types", "trained", "gradient"}).empty());
  CHECK(record.fails(of<Large<false>>(promises), "types"));
}
