// Faults that appear only in one type, in training, beyond a length or in gradients, but not in a short float64 evaluation.
#include "ablate/headwise.h"
#include "ablate/operation.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Mode {
  kRight,
  kMaskFloat,         // ignores the mask in float32
  kMaskHalf,          // ignores the mask in half precision
  kCausalFloat,       // not causal in float32
  kCausalBFloat,      // not causal in bfloat16
  kHalfSums,          // stores sums over the keys in the narrow type
  kHalfWeights,       // rounds weights to few bits
  kMaskTraining,      // ignores the mask in training
  kCausalTraining,    // not causal in training
  kBatchTraining,     // centres keys over the batch in training
  kGradientTraining,  // no gradient of scores in training
  kRankLeak,          // lowers scores of keys whose norm is below a mean over all keys, including later keys
  kSortLeak,          // a median over all positions, without a gradient
  kLengthLeak,        // reads all keys from 64 on, even keys after the query
  kLateLeak,          // with 256 tokens or more, reads the last key
  kForgets,           // reads fewer than 128 tokens back, and does not declare this
  kForgetsFirst,      // with more than 200 tokens, does not read the first token
  kGradientMasked,    // doubles a gradient if there is a mask
  kGradientCausal,    // doubles a gradient if causal
  kGradientLong,      // with more than 100 tokens, a gradient that is too large
  kGradientBatch,     // divides gradients by the batch size
  kGradientPadded,    // gradients of the weights depend on the number of padded tokens
};

/// Returns x with its gradient multiplied by a factor.
Tensor with_factor(const Tensor& x, double factor) { return x * factor + x.detach() * (1 - factor); }

class Moody : public HeadwiseAttention {
 public:
  Moody(const AttentionContext& context, Mode mode) : HeadwiseAttention(context, 2), mode_(mode) {}

 private:
  bool is(Mode other) const { return mode_ == other; }

  Tensor hidden(const HeadInput& input, std::int64_t n, std::int64_t keys) const {
    const auto type = input.q.scalar_type();
    const bool narrow = type != kFloat && type != kDouble;
    auto none = zeros({1, 1, n, keys}, TensorOptions(kBool));
    const bool forgets_time = (is(Mode::kCausalFloat) && type == kFloat) ||
                              (is(Mode::kCausalBFloat) && type == at::kBFloat16) ||
                              (is(Mode::kCausalTraining) && is_training());
    if (causal() && !forgets_time) {
      auto later = ones({n, keys}, TensorOptions(kBool)).triu(1);
      if (is(Mode::kLengthLeak)) later = later.logical_and(arange(keys).lt(64).unsqueeze(0));
      if (is(Mode::kLateLeak) && n >= 256) later = later.logical_and(arange(keys).lt(keys - 1).unsqueeze(0));
      none = later.unsqueeze(0).unsqueeze(0);
    }
    if (is(Mode::kForgets)) none = none.logical_or(ones({n, keys}, TensorOptions(kBool)).tril(-128).unsqueeze(0).unsqueeze(0));
    if (is(Mode::kForgetsFirst) && n > 200) none = none.logical_or(arange(keys).eq(0).unsqueeze(0).unsqueeze(0).unsqueeze(0));
    const bool forgets_mask = (is(Mode::kMaskFloat) && type == kFloat) || (is(Mode::kMaskHalf) && narrow) ||
                              (is(Mode::kMaskTraining) && is_training());
    if (!input.mask.defined() || forgets_mask) return none;
    return none.logical_or(input.mask.logical_not().unsqueeze(1).unsqueeze(1));
  }

  /// Returns the sum over the keys. The fault kHalfSums adds in the narrow type.
  Tensor summed(const Tensor& weights, const Tensor& values, at::ScalarType type) const {
    if (!is(Mode::kHalfSums) || type == kFloat || type == kDouble) return weights.matmul(values);
    auto sum = zeros_like(weights.narrow(3, 0, 1).matmul(values.narrow(2, 0, 1))).to(type);
    for (std::int64_t i = 0; i < weights.size(3); ++i)
      sum = sum + weights.narrow(3, i, 1).matmul(values.narrow(2, i, 1)).to(type);
    return sum.to(weights.scalar_type());
  }

  HeadOutput attend(const HeadInput& input) override {
    const auto type = input.q.scalar_type();
    const auto wide = [&](const Tensor& x) { return type == kDouble ? x : x.to(kFloat); };
    auto q = wide(input.q), k = wide(input.k), v = wide(input.v);
    if (is(Mode::kBatchTraining) && is_training()) k = k - k.mean(0, true);
    auto scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    const auto n = scores.size(2), keys = scores.size(3);
    if (is(Mode::kRankLeak)) {
      const auto strength = k.detach().square().sum(-1);
      scores = scores - strength.lt(strength.mean(-1, true)).to(scores.scalar_type()).unsqueeze(2) * 2;
    }
    if (is(Mode::kSortLeak))
      scores = scores * (std::get<0>(k.detach().select(3, 0).median(2, true)).sigmoid().unsqueeze(-1) + 1);
    if (is(Mode::kGradientTraining) && is_training()) scores = scores.detach();
    if (is(Mode::kGradientMasked) && input.mask.defined()) scores = with_factor(scores, 2);
    if (is(Mode::kGradientCausal) && causal()) scores = with_factor(scores, 2);
    if (is(Mode::kGradientLong) && n > 100) scores = with_factor(scores, 1.01);
    if (is(Mode::kGradientBatch)) scores = with_factor(scores, 1.0 / static_cast<double>(input.q.size(0)));
    if (is(Mode::kGradientPadded) && input.mask.defined())
      v = with_factor(v, 1 + 0.1 * input.mask.logical_not().sum().item<double>());
    const auto gone = hidden(input, n, keys);
    auto weights = (scores - scores.detach().amax(-1, true)).exp().masked_fill(gone, 0);
    if (is(Mode::kHalfWeights) && type != kDouble && type != kFloat) weights = (weights * 8).round() / 8;
    const auto ones_like_keys = ones({v.size(0), v.size(1), keys, 1}, v.options().requires_grad(false));
    const auto sum = summed(weights, ones_like_keys, type);
    return {.values = (summed(weights, v, type) / sum.masked_fill(sum <= 0, 1)).to(type)};
  }

  Mode mode_;
};

template <Mode mode>
struct Made final : Moody {
  explicit Made(const AttentionContext& context) : Moody(context, mode) {}
};

template <Mode mode>
const Descriptor& moody() {
  static const Descriptor made = tests::attention_of<Made<mode>>(
      {.id = "moody",
       .version = "1.0.0",
       .summary = "softmax attention with a fault",
       .capabilities = {.causal = true, .key_padding = true, .averages = true, .half_precision = true}});
  return made;
}

const tests::AddVariants added = {
    {"the mask forgotten in float32", &moody<Mode::kMaskFloat>(), "padding"},
    {"the mask forgotten in half precision", &moody<Mode::kMaskHalf>(), "padding"},
    {"causality forgotten in float32", &moody<Mode::kCausalFloat>(), "causal"},
    {"causality forgotten in bfloat16", &moody<Mode::kCausalBFloat>(), "causal"},
    {"sums in half precision", &moody<Mode::kHalfSums>(), "half"},
    {"weights of few bits", &moody<Mode::kHalfWeights>(), "half"},
    {"the mask forgotten in training", &moody<Mode::kMaskTraining>(), "padding"},
    {"causality forgotten in training", &moody<Mode::kCausalTraining>(), "causal"},
    {"centred over the batch in training", &moody<Mode::kBatchTraining>(), "batch"},
    {"no gradient in training", &moody<Mode::kGradientTraining>(), "gradient"},
    {"a rank among later keys", &moody<Mode::kRankLeak>(), "causal"},
    {"a median over later keys", &moody<Mode::kSortLeak>(), "causal"},
    {"a leak beyond the first block", &moody<Mode::kLengthLeak>(), "causal"},
    {"a leak from 256 tokens on", &moody<Mode::kLateLeak>(), "causal"},
    {"a window that is not declared", &moody<Mode::kForgets>(), "reach"},
    {"the first token lost", &moody<Mode::kForgetsFirst>(), "reach"},
    {"a gradient wrong under a mask", &moody<Mode::kGradientMasked>(), "gradient"},
    {"a gradient wrong if causal", &moody<Mode::kGradientCausal>(), "gradient"},
    {"a gradient wrong at many tokens", &moody<Mode::kGradientLong>(), "gradient"},
    {"a gradient divided by the batch", &moody<Mode::kGradientBatch>(), "additive"},
    {"a gradient by the padding", &moody<Mode::kGradientPadded>(), "additive"},
};

}  // namespace

TEST_CASE("the attention of all modes without a fault passes", "[conformance]") {
  tests::Record record;
  CHECK(record.suite(moody<Mode::kRight>()).empty());
}
