// Faults that appear only under several conditions together, for instance float32 and many tokens. Also faults that few
// comparisons show: in one place, without a mask, over another sequence, or at one step of a thousand.
#include <map>

#include "ablate/headwise.h"
#include "ablate/straight_through.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Meeting {
  kRight,
  kGate,                // right: a hard gate that some weights close
  kMaskFloatLong,       // with 128 tokens or more, ignores the mask in float32
  kMaskTrainingLong,    // with 128 tokens or more, ignores the mask in training
  kBFloatLong,          // with 256 tokens or more, computes float32 through bfloat16
  kGradientFloatLong,   // with more than 64 tokens, half the gradient of the queries, in float32 training
  kHalfNoKeys,          // no gradient of keys in half precision
  kHalfTwice,           // twice the gradient of values in half precision
  kCausalTrainingLong,  // with more than 128 tokens, not causal in training
  kCausalFloatLong,     // with more than 128 tokens, not causal in float32
  kCausalAcrossFloat,   // not causal over another sequence in float32
  kMaskAcrossHalf,      // ignores the mask over another sequence in half precision
  kAcrossDetached,      // no gradient of another sequence's keys
  kAcrossTwice,         // twice the gradient of queries over another sequence
  kCachedLong,          // with 64 tokens or more, caches a mask by its shape
  kCachedFloat,         // caches a mask by its shape in float32
  kDeadCausal,          // the last head is 0 if causal
  kDeadTwoWay,          // the last head is 0 unless causal
  kBiasCancels,         // a bias without effect under a softmax
  kWeightCancels,       // a weight whose effect is subtracted again
  kLogarithm,           // an auxiliary loss that is a logarithm
  kLinear,              // an auxiliary loss that is a sum, so that weights below 0 lower it
  kLossOfAll,           // an auxiliary loss that is a mean over padding, too
  kLossByLength,        // an auxiliary loss that depends on the padded length
  kRedraw256,           // redraws from torch's generator every 256 steps
  kRedrawSeventh,       // redraws from torch's generator in step 7
  kOverQueries,         // weights divided by their sums over the queries
  kShiftedSums,         // weights divided by the sum of the previous query's weights
  kBatchLong,           // with more than 100 tokens, keys divided by a maximum over the batch
  kBatchTrainingLong,   // with more than 100 tokens, keys centred over the batch in training
  kWritesUnmasked,      // writes into its tokens if there is no mask
  kWritesQueries,       // writes into its queries over another sequence
  kForgetsEvery,        // later blocks do not read tokens 63, 127, ...
  kSubtracts,           // subtracts tokens more than 100 positions back
  kNoiseLong,           // with more than 64 tokens, noise in evaluation
  kGlobalLong,          // with more than 64 tokens, uses torch's generator in training
  kScaledTraining,      // declares that it equals another attention, but is scaled in training
  kScaledFloatLong,     // declares the same, but is scaled in float32 if there are more than 100 tokens
};

Tensor with_factor(const Tensor& x, double factor) { return x * factor + x.detach() * (1 - factor); }

class Met : public HeadwiseAttention {
 public:
  Met(const AttentionContext& context, Meeting fault) : HeadwiseAttention(context, 2), fault_(fault) {
    const auto extra = [&](const Tensor& tensor) { extra_ = register_parameter("extra", tensor); };
    if (is(Meeting::kGate)) extra(randn({2, 1, 8}, context.generator));
    if (is(Meeting::kBiasCancels)) extra(zeros({2, 1, 1}));
    if (is(Meeting::kWeightCancels) || is(Meeting::kLogarithm) || is(Meeting::kLinear)) extra(ones({2, 1, 1}));
    if (is(Meeting::kRedraw256) || is(Meeting::kRedrawSeventh)) drawn_ = register_buffer("drawn", ones({}));
  }

 private:
  bool is(Meeting other) const { return fault_ == other; }

  void do_step(std::int64_t step, const Generator&) override {
    const NoGradGuard none;
    if ((is(Meeting::kRedraw256) && step % 256 == 0) || (is(Meeting::kRedrawSeventh) && step == 7)) drawn_.uniform_(1, 2);
  }

  /// Returns true for keys that a query may not read.
  Tensor hidden(const HeadInput& input, std::int64_t n, std::int64_t keys) {
    const auto type = input.q.scalar_type();
    const bool is_float = type == kFloat, is_half = !is_float && type != kDouble;
    auto gone = zeros({1, 1, n, keys}, TensorOptions(kBool));
    const bool forgets_time = (is(Meeting::kCausalTrainingLong) && is_training() && n > 128) ||
                              (is(Meeting::kCausalFloatLong) && is_float && n > 128) ||
                              (is(Meeting::kCausalAcrossFloat) && is_float && !input.self);
    if (causal() && !forgets_time) gone = ones({n, keys}, TensorOptions(kBool)).triu(1).unsqueeze(0).unsqueeze(0);
    if (is(Meeting::kForgetsEvery)) {
      const auto block = (arange(n) / 64).floor().unsqueeze(1), token = arange(keys).unsqueeze(0);
      gone = gone.logical_or(token.remainder(64).eq(63).logical_and(token < block * 64));
    }
    const bool forgets_mask = (is(Meeting::kMaskFloatLong) && is_float && keys >= 128) ||
                              (is(Meeting::kMaskTrainingLong) && is_training() && keys >= 128) ||
                              (is(Meeting::kMaskAcrossHalf) && is_half && !input.self);
    if (!input.mask.defined() || forgets_mask) return gone;
    auto mask = input.mask;
    if ((is(Meeting::kCachedLong) && keys >= 64) || (is(Meeting::kCachedFloat) && is_float))
      mask = masks_.try_emplace(mask.sizes().vec(), mask.clone()).first->second;
    return gone.logical_or(mask.logical_not().unsqueeze(1).unsqueeze(1));
  }

  void write(const HeadInput& input) const {
    const NoGradGuard none;
    if (is(Meeting::kWritesUnmasked) && !input.mask.defined()) input.context.add_(1);
    if (is(Meeting::kWritesQueries) && !input.self) input.queries.add_(1);
  }

  Tensor loss_of(const HeadInput& input) const {
    if (is(Meeting::kLogarithm)) return extra_.log().sum() * 0.1;
    if (is(Meeting::kLinear)) return extra_.sum() * 0.1;
    if (is(Meeting::kLossOfAll)) return input.k.square().mean();
    if (is(Meeting::kLossByLength)) return input.k.square().sum() * static_cast<double>(input.k.size(2)) * 1e-3;
    return {};
  }

  HeadOutput attend(const HeadInput& input) override {
    const auto type = input.q.scalar_type();
    const auto wide = [&](const Tensor& x) { return type == kDouble ? x : x.to(kFloat); };
    auto q = wide(input.q), k = wide(input.k), v = wide(input.v);
    const auto n = q.size(2), keys = k.size(2);
    const bool is_half = type != kDouble && type != kFloat, is_float = type == kFloat;
    write(input);
    if (is(Meeting::kBFloatLong) && is_float && n >= 256) q = q.to(at::kBFloat16).to(type), k = k.to(at::kBFloat16).to(type);
    if (is(Meeting::kGradientFloatLong) && is_float && is_training() && n > 64) q = with_factor(q, 0.5);
    if (is(Meeting::kHalfNoKeys) && is_half) k = k.detach();
    if (is(Meeting::kHalfTwice) && is_half) v = with_factor(v, 2);
    if (is(Meeting::kAcrossDetached) && !input.self) k = k.detach();
    if (is(Meeting::kAcrossTwice) && !input.self) q = with_factor(q, 2);
    if (is(Meeting::kBatchLong) && n > 100) k = k / (k.detach().abs().max() + 1);
    if (is(Meeting::kBatchTrainingLong) && n > 100 && is_training()) k = k - k.mean(0, true);
    auto scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    if (drawn_.defined()) scores = scores * drawn_.to(scores.scalar_type());
    if (is(Meeting::kBiasCancels) || is(Meeting::kLogarithm) || is(Meeting::kLinear))
      scores = scores + extra_.to(scores.scalar_type());
    if (is(Meeting::kNoiseLong) && n > 64 && !is_training())
      scores = scores + randn(scores.sizes(), input.generator).to(scores.scalar_type());
    if (is(Meeting::kGlobalLong) && n > 64 && is_training())
      scores = scores + empty(scores.sizes(), scores.options()).detach().normal_(0, 1);
    if ((is(Meeting::kScaledTraining) && is_training()) || (is(Meeting::kScaledFloatLong) && is_float && n > 100))
      scores = scores * 0.7;
    auto weights = (scores - scores.detach().amax(-1, true)).exp().masked_fill(hidden(input, n, keys), 0);
    auto sum = weights.sum(is(Meeting::kOverQueries) ? -2 : -1, true);
    if (is(Meeting::kShiftedSums)) sum = ablate::cat({sum.narrow(2, 0, 1), sum.narrow(2, 0, n - 1)}, 2);
    auto products = weights.matmul(v);
    if (is(Meeting::kSubtracts) && n > 100 && input.self) {
      const auto far = weights * (arange(n).unsqueeze(1) - arange(keys).unsqueeze(0) > 100).to(weights.scalar_type());
      products = products - far.matmul(v);
      sum = sum - far.sum(-1, true);
    }
    auto read = products / sum.masked_fill(sum <= 0, 1);
    if (is(Meeting::kWeightCancels)) {
      const auto scaled = read * extra_.to(read.scalar_type());
      read = read + scaled - scaled * 0.25 - scaled * 0.75;
    }
    if ((is(Meeting::kDeadCausal) && causal()) || (is(Meeting::kDeadTwoWay) && !causal()))
      read = ablate::cat({read.narrow(1, 0, 1), zeros_like(read.narrow(1, 1, 1))}, 1);
    if (is(Meeting::kGate))
      read = read * straight_through((extra_ > 0).to(extra_.scalar_type()), extra_.sigmoid()).to(read.scalar_type());
    return {.values = read.to(type), .auxiliary_loss = loss_of(input)};
  }

  Meeting fault_;
  Tensor extra_, drawn_;
  std::map<std::vector<std::int64_t>, Tensor> masks_;
};

template <Meeting fault>
struct Made final : Met {
  explicit Made(const AttentionContext& context) : Met(context, fault) {}
};

constexpr Oracle kOther[] = {{"{}", "met"}};

template <Meeting fault>
const Descriptor& met() {
  constexpr bool declares = fault == Meeting::kScaledTraining || fault == Meeting::kScaledFloatLong;
  static const Descriptor made =
      tests::attention_of<Made<fault>>({.id = fault == Meeting::kRight ? "met" : "faulty",
                                        .version = "1.0.0",
                                        .summary = "softmax attention with a fault",
                                        .capabilities = {.causal = true,
                                                         .key_padding = true,
                                                         .cross_attention = true,
                                                         .averages = true,
                                                         .half_precision = true,
                                                         .time_exponent = 2,
                                                         .memory_exponent = 2},
                                        .oracles = declares ? std::span<const Oracle>(kOther) : std::span<const Oracle>()});
  return made;
}

const tests::AddVariants added = {
    {"the mask forgotten in float32 at many tokens", &met<Meeting::kMaskFloatLong>(), "padding"},
    {"the mask forgotten in training at many tokens", &met<Meeting::kMaskTrainingLong>(), "padding"},
    {"an auxiliary loss over padding", &met<Meeting::kLossOfAll>(), "padding"},
    {"an auxiliary loss by the padded length", &met<Meeting::kLossByLength>(), "padding"},
    {"float32 through bfloat16 at many tokens", &met<Meeting::kBFloatLong>(), "types"},
    {"half a gradient in float32 training at many tokens", &met<Meeting::kGradientFloatLong>(), "types"},
    {"no gradient of keys in half precision", &met<Meeting::kHalfNoKeys>(), "half"},
    {"twice the gradient of values in half precision", &met<Meeting::kHalfTwice>(), "half"},
    {"causality forgotten in training at many tokens", &met<Meeting::kCausalTrainingLong>(), "causal"},
    {"causality forgotten in float32 at many tokens", &met<Meeting::kCausalFloatLong>(), "causal"},
    {"causality forgotten between two sequences in float32", &met<Meeting::kCausalAcrossFloat>(), "cross"},
    {"the mask forgotten between two sequences in half precision", &met<Meeting::kMaskAcrossHalf>(), "cross"},
    {"no gradient of another sequence's keys", &met<Meeting::kAcrossDetached>(), "gradient"},
    {"twice the gradient of queries over another sequence", &met<Meeting::kAcrossTwice>(), "gradient"},
    {"a mask kept at many tokens", &met<Meeting::kCachedLong>(), "calls"},
    {"a mask kept in float32", &met<Meeting::kCachedFloat>(), "calls"},
    {"a head that is 0 if causal", &met<Meeting::kDeadCausal>(), "trained"},
    {"a head that is 0 unless causal", &met<Meeting::kDeadTwoWay>(), "trained"},
    {"a bias that cancels", &met<Meeting::kBiasCancels>(), "trained"},
    {"a weight that cancels", &met<Meeting::kWeightCancels>(), "trained"},
    {"an auxiliary loss that is a logarithm", &met<Meeting::kLogarithm>(), "auxiliary"},
    {"an auxiliary loss that is a sum", &met<Meeting::kLinear>(), "auxiliary"},
    {"a redraw every 256 steps", &met<Meeting::kRedraw256>(), "seed"},
    {"a redraw in step 7", &met<Meeting::kRedrawSeventh>(), "seed"},
    {"torch's generator in training at many tokens", &met<Meeting::kGlobalLong>(), "seed"},
    {"weights that sum to 1 over the queries", &met<Meeting::kOverQueries>(), "constants"},
    {"the sum of another query", &met<Meeting::kShiftedSums>(), "constants"},
    {"a maximum over the batch at many tokens", &met<Meeting::kBatchLong>(), "batch"},
    {"centred over the batch in training at many tokens", &met<Meeting::kBatchTrainingLong>(), "batch"},
    {"tokens written without a mask", &met<Meeting::kWritesUnmasked>(), "inputs"},
    {"queries of another sequence written", &met<Meeting::kWritesQueries>(), "inputs"},
    {"every 64th token lost", &met<Meeting::kForgetsEvery>(), "reach"},
    {"distant tokens subtracted again", &met<Meeting::kSubtracts>(), "reach"},
    {"noise in evaluation at many tokens", &met<Meeting::kNoiseLong>(), "evaluation"},
};

Check equality(const Descriptor& plugin) {
  Checks checks;
  checks.only({"equals"});
  const auto candidate = make_candidate(plugin, nlohmann::json::object(), find_among({&plugin, &met<Meeting::kRight>()}));
  check_attention(candidate, Depth::kFull, checks);
  REQUIRE(checks.all().size() == 1);
  return checks.all().front();
}

}  // namespace

TEST_CASE("the attention without a fault passes, also if some weights close its gate", "[conformance]") {
  tests::Record record;
  CHECK(record.suite(met<Meeting::kRight>()).empty());
  CHECK(record.suite(met<Meeting::kGate>(), {"trained", "gradient"}).empty());
}

TEST_CASE("an oracle is checked in training and in float32", "[conformance]") {
  CHECK(equality(met<Meeting::kScaledTraining>()).failed());
  CHECK(equality(met<Meeting::kScaledFloatLong>()).failed());
}

TEST_CASE("a fault is reported with its tensor, place or token", "[conformance]") {
  tests::check_mentions(tests::found(met<Meeting::kAcrossTwice>(), "gradient"), "over another sequence, padded, ");
  tests::check_mentions(tests::found(met<Meeting::kDeadCausal>(), "trained"), "(causal)");
  tests::check_mentions(tests::found(met<Meeting::kForgetsEvery>(), "reach"), "does not depend on token 63");
}
