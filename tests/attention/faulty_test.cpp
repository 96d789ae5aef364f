// Attentions with one fault each, taken from public implementations: the suite has to name the fault by the check it fails, and
// must have nothing against the same attention without it.
#include <algorithm>

#include "ablate/headwise.h"
#include "core/conformance/attention_checks.h"
#include "tests/support/catch.h"

using namespace ablate;
using torch::Tensor;

namespace {

enum class Fault {
  kNone,
  kMaskIgnored,       // padded keys take part
  kZeroedButCounted,  // padded keys are 0, but stay in the denominator
  kBatchStatistic,    // a scale taken over the whole batch (Nystromformer's pseudo-inverse)
  kFutureLeak,        // a maximum over all positions, though causal (Performer's stabiliser)
  kGlobalGenerator,   // weights from torch's global generator
  kUnsavedState,      // a tensor that changes the output and is no buffer
  kEvaluationState,   // evaluation changes a buffer
  kEmptyRow,          // 0 / 0 where there is nothing to attend to
  kDetached,          // a gradient that is cut off
  kWrongType,         // a constant that turns float32 into float64
  kNotNormalised,     // weights not divided by their sum
  kScaledByLength,    // divided by the length instead (LRA's linear attention)
  kShared,            // one parameter for all instances (Linformer's class static)
  kRouterCut,         // a decision without a gradient to what decides
};

class Faulty : public HeadwiseAttention {
 public:
  Faulty(const AttentionContext& context, Fault fault) : HeadwiseAttention(context, 2), fault_(fault) {
    gain_ = register_buffer("gain", torch::ones({}));
    if (fault == Fault::kGlobalGenerator) register_parameter("extra", torch::rand({}));
    if (fault == Fault::kShared) {
      static const Tensor shared = torch::ones({});
      register_parameter("shared", shared);
    }
    if (fault == Fault::kRouterCut)
      register_parameter("router", torch::empty({d_head(), 1}).uniform_(-1, 1, context.generator));
    if (fault == Fault::kUnsavedState) unsaved_ = 1 + torch::rand({}, context.generator);
  }

  Tensor attend(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& mask) override {
    auto scores = queries.matmul(keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    if (fault_ == Fault::kBatchStatistic) scores = scores / (1 + scores.detach().abs().max());
    if (fault_ == Fault::kGlobalGenerator) scores = scores * named_parameters()["extra"];
    if (fault_ == Fault::kUnsavedState) scores = scores * unsaved_.to(scores.scalar_type());
    if (fault_ == Fault::kEvaluationState && !is_training()) gain_.add_(0.1);
    if (fault_ == Fault::kDetached) scores = scores.detach();
    if (fault_ == Fault::kShared) scores = scores * named_parameters()["shared"];
    if (fault_ == Fault::kRouterCut) {
      const auto routed = queries.matmul(named_parameters()["router"]) > 0;
      scores = scores * (1 + routed.to(scores.scalar_type()));
    }
    scores = scores * gain_;
    const auto stabiliser = scores.amax(-1, true);
    auto hidden = torch::zeros({}, torch::kBool);
    if (causal()) hidden = torch::ones({scores.size(2), scores.size(3)}, torch::kBool).triu(1);
    if (mask.defined() && fault_ != Fault::kMaskIgnored && fault_ != Fault::kZeroedButCounted)
      hidden = hidden.logical_or(mask.logical_not().unsqueeze(1).unsqueeze(1));
    if (fault_ == Fault::kZeroedButCounted && mask.defined()) scores = scores * mask.unsqueeze(1).unsqueeze(1);
    auto weights = (scores - stabiliser.detach()).exp().masked_fill(hidden, 0);
    if (fault_ == Fault::kFutureLeak) weights = weights + 1e-3 * stabiliser.sigmoid().masked_fill(hidden, 0);
    auto sum = weights.sum(-1, true);
    if (fault_ == Fault::kNotNormalised || fault_ == Fault::kScaledByLength) {
      const auto summed = scores.exp().masked_fill(hidden, 0).matmul(values);
      return fault_ == Fault::kNotNormalised ? summed : summed / static_cast<double>(keys.size(2));
    }
    if (fault_ != Fault::kEmptyRow) sum = sum.masked_fill(sum <= 0, 1);
    const auto read = weights.matmul(values) / sum;
    return fault_ == Fault::kWrongType ? read.to(torch::kFloat64) : read;
  }

 private:
  Fault fault_;
  Tensor gain_, unsaved_;
};

template <Fault fault>
Descriptor descriptor() {
  auto result = ablate::detail::describe(
      Kind::kAttention, {.id = "faulty",
                         .version = "1.0.0",
                         .summary = "softmax attention with a fault",
                         .capabilities = {.causal = true, .key_padding = true, .cross_attention = true, .averages = true}});
  result.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
    return std::make_shared<Faulty>(context, fault);
  };
  return result;
}

template <Fault fault>
std::vector<std::string> failed() {
  static const Descriptor made = descriptor<fault>();
  std::vector<std::string> names;
  Checks checks;
  check_attention(with_defaults(made), {}, checks);
  for (const auto& check : checks.all())
    if (!check.passed) names.push_back(check.name);
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("the suite names each fault", "[conformance]") {
  CHECK(failed<Fault::kNone>() == std::vector<std::string>{});
  CHECK(has(failed<Fault::kMaskIgnored>(), "padding"));
  CHECK(has(failed<Fault::kZeroedButCounted>(), "padding"));
  CHECK(has(failed<Fault::kBatchStatistic>(), "batch"));
  CHECK(has(failed<Fault::kFutureLeak>(), "causal"));
  CHECK(has(failed<Fault::kGlobalGenerator>(), "seed"));
  CHECK(failed<Fault::kUnsavedState>() == std::vector<std::string>{"save"});
  CHECK(has(failed<Fault::kEvaluationState>(), "evaluation"));
  CHECK(has(failed<Fault::kEmptyRow>(), "empty"));
  CHECK(failed<Fault::kDetached>() == std::vector<std::string>{"gradient", "trained"});
  CHECK(has(failed<Fault::kWrongType>(), "types"));
  CHECK(has(failed<Fault::kNotNormalised>(), "constants"));
  CHECK(has(failed<Fault::kScaledByLength>(), "padding"));
  CHECK(has(failed<Fault::kShared>(), "instances"));
  CHECK(failed<Fault::kRouterCut>() == std::vector<std::string>{"trained"});
}

namespace {

enum class Carry { kNone, kCarried, kKeptInside };

/// The mean of a segment, and of the one before where it is carried over.
template <Carry carry>
class Recurrent : public HeadwiseAttention {
 public:
  explicit Recurrent(const AttentionContext& context) : HeadwiseAttention(context, 1) {}

  AttentionOutput forward(const AttentionInput& input) override {
    const bool kept = carry == Carry::kKeptInside;
    before_ = kept ? own_ : input.state.empty() ? Tensor() : input.state.front();
    auto result = HeadwiseAttention::forward(input);
    if (carry != Carry::kNone) result.state = {mean_};
    own_ = mean_;
    return result;
  }

  Tensor attend(const Tensor& queries, const Tensor&, const Tensor& values, const Tensor&) override {
    mean_ = values.mean(2, true);
    return (before_.defined() ? mean_ + before_ : mean_).expand_as(queries);
  }

 private:
  Tensor before_, mean_, own_;
};

template <Carry carry>
Check state_check() {
  static const Descriptor made = [] {
    auto result = ablate::detail::describe(
        Kind::kAttention, {.id = "recurrent", .version = "1.0.0", .summary = "segments", .capabilities = {.stateful = true}});
    result.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
      return std::make_shared<Recurrent<carry>>(context);
    };
    return result;
  }();
  Checks checks;
  check_attention(with_defaults(made), {}, checks);
  for (const auto& check : checks.all())
    if (check.name == "state") return check;
  FAIL("no check of the state");
  return {};
}

}  // namespace

TEST_CASE("a state that is promised has to be carried, and carried by the host alone", "[conformance]") {
  const auto carried = state_check<Carry::kCarried>();
  INFO(carried.found);
  CHECK(carried.passed);
  CHECK(state_check<Carry::kNone>().found.find("returned no state") != std::string::npos);
  CHECK_FALSE(state_check<Carry::kKeptInside>().passed);
}
