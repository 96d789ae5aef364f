// Attentions with one fault each, taken from public implementations: the suite has to name the fault by the check it fails, and
// must have nothing against the same attention without it.
#include <algorithm>
#include <set>

#include "ablate/headwise.h"
#include "core/trial/conformance/attention_checks.h"
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
  kDeviation,         // divided by the deviation of the scores, of which one token has none
  kFixedTable,        // a table for as many positions as the author had in mind
  kNoStabiliser,      // exp of what may be large
  kHalfScores,        // scores in half precision, of which it holds none above 65504
  kMeasures,          // measures on another path than it computes on
  kPaddingTouched,    // padded context times 0, and NaN times 0 is NaN
  kOtherContext,      // another rule where the context is another tensor
  kBlocks,            // whole blocks alone: what is left over at the end has no output
  kUnregistered,      // a learned tensor that is a plain member
  kOneChoice,         // a choice that ignores the mask
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
    if (fault == Fault::kUnregistered) unregistered_ = torch::ones({1}).requires_grad_();
    if (fault == Fault::kUnsavedState) unsaved_ = 1 + torch::rand({}, context.generator);
    if (fault == Fault::kFixedTable) register_buffer("table", torch::randn({512}, context.generator));
    if (fault == Fault::kOneChoice && context.parameters.boolean("dense")) fault_ = Fault::kMaskIgnored;
  }

  AttentionOutput forward(const AttentionInput& input) override {
    auto result = HeadwiseAttention::forward(input);
    const auto& context = input.context;
    if (fault_ == Fault::kMeasures && input.measure) result.output = result.output.to(torch::kFloat32).to(torch::kFloat64);
    if (fault_ == Fault::kOtherContext && !input.queries.is_same(context)) result.output = 2 * result.output;
    if (fault_ == Fault::kBlocks) result.output = result.output.narrow(1, 0, result.output.size(1) / 4 * 4);
    if (fault_ == Fault::kPaddingTouched && input.mask.defined())
      result.output = result.output + 0 * (context * input.mask.unsqueeze(-1)).sum();
    return result;
  }

  Tensor attend(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& mask) override {
    const bool widened = fault_ != Fault::kHalfScores && queries.element_size() < 4;
    const auto wide = [widened](const Tensor& x) { return widened ? x.to(torch::kFloat32) : x; };
    auto scores = wide(queries).matmul(wide(keys).transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    if (fault_ == Fault::kDeviation) {
      const auto away = scores.detach() - scores.detach().mean(-1, true);
      scores = scores / (1 + (away.square().sum(-1, true) / static_cast<double>(scores.size(3) - 1)).sqrt());
    }
    if (fault_ == Fault::kFixedTable) scores = scores + named_buffers()["table"].narrow(0, 0, scores.size(3));
    if (fault_ == Fault::kBatchStatistic) scores = scores / (1 + scores.detach().abs().max());
    if (fault_ == Fault::kGlobalGenerator) scores = scores * named_parameters()["extra"];
    if (fault_ == Fault::kUnsavedState) scores = scores * unsaved_.to(scores.scalar_type());
    if (fault_ == Fault::kUnregistered) scores = scores * unregistered_.to(scores.scalar_type());
    if (fault_ == Fault::kEvaluationState && !is_training()) gain_.add_(0.1);
    if (fault_ == Fault::kDetached) scores = scores.detach();
    if (fault_ == Fault::kShared) scores = scores * named_parameters()["shared"];
    if (fault_ == Fault::kRouterCut) {
      const auto routed = queries.matmul(named_parameters()["router"]) > 0;
      scores = scores * (1 + routed.to(scores.scalar_type()));
    }
    scores = scores * gain_.to(scores.scalar_type());
    const auto stabiliser = fault_ == Fault::kNoStabiliser ? torch::zeros({}, scores.options()) : scores.amax(-1, true);
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
    const auto read = weights.matmul(wide(values)) / sum;
    return fault_ == Fault::kWrongType ? read.to(torch::kFloat64) : read.to(values.scalar_type());
  }

 private:
  Fault fault_;
  Tensor gain_, unsaved_, unregistered_;
};

constexpr Parameter kChoice[] = {boolean("dense", "false", "whether the mask is left out")};

template <Fault fault>
Descriptor descriptor() {
  auto result =
      ablate::detail::describe(Kind::kAttention, {.id = "faulty",
                                                  .version = "1.0.0",
                                                  .summary = "softmax attention with a fault",
                                                  .capabilities = {.causal = true,
                                                                   .key_padding = true,
                                                                   .cross_attention = true,
                                                                   .averages = true,
                                                                   .half_precision = true,
                                                                   .length_multiple = fault == Fault::kBlocks ? 4 : 1},
                                                  .parameters = kChoice});
  result.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
    return std::make_shared<Faulty>(context, fault);
  };
  return result;
}

std::set<std::string> run_once, failed_once;

template <Fault fault>
std::vector<std::string> failed() {
  static const Descriptor made = descriptor<fault>();
  std::vector<std::string> names;
  Checks checks;
  check_attention(with_defaults(made), {}, checks);
  for (const auto& check : checks.all()) {
    if (check.name != "cuda") run_once.insert(check.name);  // can it fail? tests/conformance/device_test.cpp
    if (check.failed()) names.push_back(check.name);
  }
  failed_once.insert(names.begin(), names.end());
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
  CHECK(failed<Fault::kUnregistered>() == std::vector<std::string>{"trained"});
  CHECK(has(failed<Fault::kDeviation>(), "lengths"));
  CHECK(failed<Fault::kFixedTable>() == std::vector<std::string>{"long"});
  CHECK(has(failed<Fault::kNoStabiliser>(), "scale"));
  CHECK(failed<Fault::kHalfScores>() == std::vector<std::string>{"half"});
  CHECK(failed<Fault::kMeasures>() == std::vector<std::string>{"measure"});
  CHECK(has(failed<Fault::kPaddingTouched>(), "poison"));
  CHECK(has(failed<Fault::kOtherContext>(), "cross"));
  CHECK(failed<Fault::kBlocks>() == std::vector<std::string>{"refused"});
  CHECK(failed<Fault::kOneChoice>() == std::vector<std::string>{"parameters"});
  CHECK(failed_once == run_once);  // every check can fail (that of the state: state_test.cpp)
}
