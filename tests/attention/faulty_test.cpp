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
};

class Faulty : public HeadwiseAttention {
 public:
  Faulty(const AttentionContext& context, Fault fault) : HeadwiseAttention(context, 2), fault_(fault) {
    gain_ = register_buffer("gain", torch::ones({}));
    if (fault == Fault::kGlobalGenerator) register_parameter("extra", torch::rand({}));
    if (fault == Fault::kUnsavedState) unsaved_ = 1 + torch::rand({}, context.generator);
  }

  Tensor attend(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& mask) override {
    auto scores = queries.matmul(keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    if (fault_ == Fault::kBatchStatistic) scores = scores / (1 + scores.detach().abs().max());
    if (fault_ == Fault::kGlobalGenerator) scores = scores * named_parameters()["extra"];
    if (fault_ == Fault::kUnsavedState) scores = scores * unsaved_.to(scores.scalar_type());
    if (fault_ == Fault::kEvaluationState && !is_training()) gain_.add_(0.1);
    if (fault_ == Fault::kDetached) scores = scores.detach();
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
  auto result = ablate::detail::describe(Kind::kAttention,
                                         {.id = "faulty",
                                          .version = "1.0.0",
                                          .summary = "softmax attention with a fault",
                                          .capabilities = {.causal = true, .key_padding = true, .cross_attention = true}});
  result.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
    return std::make_shared<Faulty>(context, fault);
  };
  return result;
}

template <Fault fault>
std::vector<std::string> failed() {
  static const Descriptor made = descriptor<fault>();
  std::vector<std::string> names;
  for (const auto& check : check_attention(with_defaults(made), {}))
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
  CHECK(failed<Fault::kDetached>() == std::vector<std::string>{"gradient"});
  CHECK(has(failed<Fault::kWrongType>(), "types"));
}
