// Each attention here has one fault of a public implementation and must fail the check for this fault. Without a fault, all
// checks pass.
#include <ATen/Parallel.h>

#include "ablate/headwise.h"
#include "tests/conformance/renamed.h"

using namespace ablate;

namespace {

enum class Fault {
  kNone,
  kMaskIgnored,       // padded keys get weights
  kZeroedButCounted,  // padded keys are 0, but remain in the denominator
  kBatchStatistic,    // a scale computed over the whole batch (Nystromformer's pseudo-inverse)
  kFutureLeak,        // a maximum over all positions, though causal (Performer's stabiliser)
  kFutureValue,       // a maximum over all positions, without a gradient
  kCausalAlways,      // causal in every place
  kGlobalGenerator,   // weights from torch's global generator
  kUnsavedState,      // a tensor that changes the output and is no buffer
  kEvaluationState,   // evaluation changes a buffer
  kEvaluationDraws,   // evaluation draws from the generator of the input
  kWritesInput,       // padding is zeroed in place
  kStepsParameter,    // changes a parameter after a step
  kCastsKept,         // casts a tensor that must never be cast
  kIndicesCast,       // indices stored as reals, which may be cast
  kEmptyRow,          // 0 / 0 if there is no key to attend to
  kDetached,          // no gradient of the scores
  kWrongType,         // a constant that turns float32 into float64
  kNotNormalised,     // weights not divided by their sum
  kScaledByLength,    // weights divided by the length instead (LRA's linear attention)
  kShared,            // one parameter for all instances (a static class member, as in Linformer)
  kRouterCut,         // a decision without a gradient for its parameter
  kNeverUsed,         // a parameter that nothing reads
  kDeviation,         // scores divided by their standard deviation, which is NaN for one token
  kFixedTable,        // a table with a fixed number of positions
  kNoStabiliser,      // exp of scores, without subtracting their maximum
  kHalfScores,        // scores in half precision, whose largest number is 65504
  kMeasures,          // computes differently while it measures
  kPaddingTouched,    // multiplies padded context by 0, and NaN times 0 is NaN
  kPrefixMask,        // reads the first m tokens if the mask has m present tokens, wherever they are
  kOtherContext,      // twice the output if the context is not the tensor of the queries
  kCausalSelf,        // causal only in self-attention
  kQueriesPooled,     // pools queries together with their padding
  kFirstPosition,     // uses the position of the batch's first item for all items
  kBlocks,            // computes only whole blocks, and no output for the remaining tokens
  kUnregistered,      // a learned tensor that is not registered
  kThreads,           // changes the number of threads and does not restore it
  kOneChoice,         // one choice of a parameter ignores the mask
};

class Faulty : public HeadwiseAttention {
 public:
  Faulty(const AttentionContext& context, Fault fault) : HeadwiseAttention(context, 2), fault_(fault) {
    gain_ = register_buffer("gain", ones({}));
    const auto extra = [&](const char* name, const Tensor& tensor) { extra_ = register_parameter(name, tensor); };
    if (is(Fault::kGlobalGenerator)) extra("extra", empty({}).uniform_(0, 1));
    if (is(Fault::kShared)) {
      static const Tensor shared = ones({});
      extra("shared", shared);
    }
    if (is(Fault::kRouterCut)) extra("router", empty({d_head(), 1}).uniform_(-1, 1, context.generator));
    if (is(Fault::kNeverUsed)) extra("left_over", ones({3}));
    if (is(Fault::kStepsParameter)) extra("scale", ones({}));
    if (is(Fault::kUnregistered)) extra_ = ones({1}).requires_grad_();
    if (is(Fault::kUnsavedState)) unsaved_ = empty({}).uniform_(1, 2, context.generator);
    if (is(Fault::kFixedTable)) register_buffer("table", table_ = randn({512}, context.generator));
    if (is(Fault::kCastsKept)) kept_ = register_buffer("kept", ones({3}), {.type = true});
    if (is(Fault::kIndicesCast)) register_buffer("indices", arange(300).to(kFloat));
    if (is(Fault::kOneChoice) && context.parameters.boolean("dense")) fault_ = Fault::kMaskIgnored;
  }

 private:
  bool is(Fault fault) const { return fault_ == fault; }

  void do_step(std::int64_t, const Generator&) override {
    const NoGradGuard none;
    if (is(Fault::kStepsParameter)) extra_.mul_(0.5);
    if (is(Fault::kCastsKept)) kept_.set_data(kept_.to(at::kHalf));
  }

  /// Returns true for keys that a query may not read, to be broadcast to [batch, heads, n, keys].
  Tensor hidden(const HeadInput& input, const Tensor& scores) const {
    auto result = zeros({1, 1, 1, 1}, TensorOptions(kBool));
    if ((causal() && (input.self || !is(Fault::kCausalSelf))) || is(Fault::kCausalAlways))
      result = ones({scores.size(2), scores.size(3)}, TensorOptions(kBool)).triu(1).unsqueeze(0).unsqueeze(0);
    if (!input.mask.defined() || is(Fault::kMaskIgnored) || is(Fault::kZeroedButCounted)) return result;
    auto mask = input.mask;
    if (is(Fault::kPrefixMask)) mask = arange(mask.size(1)).unsqueeze(0) < mask.sum(1).unsqueeze(1);
    return result.logical_or(mask.logical_not().unsqueeze(1).unsqueeze(1));
  }

  Tensor scores_of(const HeadInput& input) {
    const bool widened = !is(Fault::kHalfScores) && input.q.element_size() < 4;
    const auto wide = [widened](const Tensor& x) { return widened ? x.to(kFloat) : x; };
    auto scores = wide(input.q).matmul(wide(input.k).transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    const auto type = scores.scalar_type();
    if (is(Fault::kDeviation)) {
      const auto away = scores.detach() - scores.detach().mean(-1, true);
      scores = scores / ((away.square().sum(-1, true) / static_cast<double>(scores.size(3) - 1)).sqrt() + 1);
    }
    if (is(Fault::kFixedTable)) scores = scores + table_.narrow(0, 0, scores.size(3)).to(type);
    if (is(Fault::kBatchStatistic)) scores = scores / (scores.detach().abs().max() + 1);
    if (is(Fault::kGlobalGenerator) || is(Fault::kShared) || is(Fault::kUnregistered) || is(Fault::kStepsParameter))
      scores = scores * extra_.to(type);
    if (is(Fault::kUnsavedState)) scores = scores * unsaved_.to(type);
    if (is(Fault::kEvaluationState) && !is_training()) gain_.add_(0.1);
    if (is(Fault::kEvaluationDraws) && !is_training()) scores = scores + randn({1}, input.generator).to(type) * 0.0;
    if (is(Fault::kDetached)) scores = scores.detach();
    if (is(Fault::kRouterCut)) scores = scores * ((input.q.matmul(extra_) > 0).to(type) + 1);
    if (is(Fault::kQueriesPooled)) scores = scores + input.q.mean(2, true).sum(-1, true).to(type) * scores.sigmoid();
    if (is(Fault::kFirstPosition) && input.position.defined()) scores = scores / (input.position[0].to(type) + 1);
    if (is(Fault::kZeroedButCounted) && input.mask.defined()) scores = scores * input.mask.unsqueeze(1).unsqueeze(1);
    return scores * gain_.to(type);
  }

  HeadOutput attend(const HeadInput& input) override {
    if (is(Fault::kThreads)) at::set_num_threads(7);
    if (is(Fault::kWritesInput) && input.mask.defined()) {
      const NoGradGuard none;
      input.queries.masked_fill_(input.mask.logical_not().unsqueeze(-1), 0);
    }
    const auto scores = scores_of(input);
    const auto values = input.v.to(scores.scalar_type());
    const auto gone = hidden(input, scores);
    auto stabiliser = scores.amax(-1, true);
    if (is(Fault::kNoStabiliser)) stabiliser = zeros_like(stabiliser);
    auto weights = (scores - stabiliser.detach()).exp().masked_fill(gone, 0);
    if (is(Fault::kFutureLeak)) weights = weights + (stabiliser.sigmoid() * 1e-3).masked_fill(gone, 0);
    if (is(Fault::kFutureValue)) weights = weights + (stabiliser.detach().sigmoid() * 1e-3).masked_fill(gone, 0);
    auto sum = weights.sum(-1, true);
    if (!is(Fault::kEmptyRow)) sum = sum.masked_fill(sum <= 0, 1);
    auto read = weights.matmul(values) / sum;
    if (is(Fault::kNotNormalised) || is(Fault::kScaledByLength)) {
      read = scores.exp().masked_fill(gone, 0).matmul(values);
      if (is(Fault::kScaledByLength)) read = read / static_cast<double>(values.size(2));
    }
    const auto n = read.size(2);
    if (is(Fault::kMeasures) && input.measure) read = read.to(kFloat).to(kDouble);
    if (is(Fault::kOtherContext) && !input.self) read = read * 2;
    if (is(Fault::kPaddingTouched) && input.mask.defined())
      read = read + (input.queries * input.query_mask.unsqueeze(-1)).sum() * 0.0;
    if (is(Fault::kBlocks) && n % 4 != 0) read = ablate::cat({read.narrow(2, 0, n - 1), read.narrow(2, 0, 1) / 0.0}, 2);
    return {.values = is(Fault::kWrongType) ? read.to(kDouble) : read.to(input.v.scalar_type())};
  }

  Fault fault_;
  Tensor gain_, extra_, unsaved_, table_, kept_;
};

constexpr Parameter kChoice[] = {boolean("dense", "false", "whether the mask is left out")};

template <Fault fault>
struct Made final : Faulty {
  explicit Made(const AttentionContext& context) : Faulty(context, fault) {}
};

template <Fault fault>
const Descriptor& faulty() {
  static const Descriptor made =
      tests::attention_of<Made<fault>>({.id = "faulty",
                                        .version = "1.0.0",
                                        .summary = "softmax attention with a fault",
                                        .capabilities = {.causal = true,
                                                         .key_padding = true,
                                                         .cross_attention = true,
                                                         .holes = true,
                                                         .rotary = true,
                                                         .averages = true,
                                                         .half_precision = true,
                                                         .length_multiple = fault == Fault::kBlocks ? 4 : 1},
                                        .parameters = kChoice});
  return made;
}

const tests::AddVariants added = {
    {"kMaskIgnored", &faulty<Fault::kMaskIgnored>(), "padding"},
    {"kZeroedButCounted", &faulty<Fault::kZeroedButCounted>(), "padding"},
    {"kBatchStatistic", &faulty<Fault::kBatchStatistic>(), "batch"},
    {"kFutureLeak", &faulty<Fault::kFutureLeak>(), "causal"},
    {"kFutureValue", &faulty<Fault::kFutureValue>(), "causal"},
    {"kCausalAlways", &faulty<Fault::kCausalAlways>(), "bidirectional"},
    {"kGlobalGenerator", &faulty<Fault::kGlobalGenerator>(), "seed"},
    {"kUnsavedState", &faulty<Fault::kUnsavedState>(), "save"},
    {"kEvaluationState", &faulty<Fault::kEvaluationState>(), "evaluation"},
    {"kEvaluationDraws", &faulty<Fault::kEvaluationDraws>(), "evaluation"},
    {"kWritesInput", &faulty<Fault::kWritesInput>(), "inputs"},
    {"kStepsParameter", &faulty<Fault::kStepsParameter>(), "step"},
    {"kCastsKept", &faulty<Fault::kCastsKept>(), "kept"},
    {"kIndicesCast", &faulty<Fault::kIndicesCast>(), "kept"},
    {"kEmptyRow", &faulty<Fault::kEmptyRow>(), "empty"},
    {"kDetached", &faulty<Fault::kDetached>(), "gradient"},
    {"kDetached", &faulty<Fault::kDetached>(), "trained"},
    {"kWrongType", &faulty<Fault::kWrongType>(), "types"},
    {"kNotNormalised", &faulty<Fault::kNotNormalised>(), "constants"},
    {"kScaledByLength", &faulty<Fault::kScaledByLength>(), "padding"},
    {"kShared", &faulty<Fault::kShared>(), "instances"},
    {"kRouterCut", &faulty<Fault::kRouterCut>(), "trained"},
    {"kNeverUsed", &faulty<Fault::kNeverUsed>(), "trained"},
    {"kUnregistered", &faulty<Fault::kUnregistered>(), "trained"},
    {"kDeviation", &faulty<Fault::kDeviation>(), "lengths"},
    {"kFixedTable", &faulty<Fault::kFixedTable>(), "long"},
    {"kNoStabiliser", &faulty<Fault::kNoStabiliser>(), "scale"},
    {"kHalfScores", &faulty<Fault::kHalfScores>(), "half"},
    {"kMeasures", &faulty<Fault::kMeasures>(), "measure"},
    {"kPaddingTouched", &faulty<Fault::kPaddingTouched>(), "poison"},
    {"kPrefixMask", &faulty<Fault::kPrefixMask>(), "holes"},
    {"kOtherContext", &faulty<Fault::kOtherContext>(), "cross"},
    {"kCausalSelf", &faulty<Fault::kCausalSelf>(), "cross"},
    {"kQueriesPooled", &faulty<Fault::kQueriesPooled>(), "query mask"},
    {"kFirstPosition", &faulty<Fault::kFirstPosition>(), "positions"},
    {"kBlocks", &faulty<Fault::kBlocks>(), "refused"},
    {"kThreads", &faulty<Fault::kThreads>(), "threads"},
    {"kOneChoice", &faulty<Fault::kOneChoice>(), "parameters"},
};

/// Checks that the suite finds each fault. Layers have other names than in the base class, because no verdict may depend on
/// names. Two test cases share the faults, so that two cores can run them (CMakeLists.txt).
void names_every_second_fault(std::size_t first) {
  tests::Record record;
  const int threads = at::get_num_threads();
  for (auto i = first; i < tests::variants().size(); i += 2) {
    const auto& variant = tests::variants()[i];
    INFO(variant.what << " of " << variant.plugin->id << ", by " << variant.check);
    CHECK(record.fails(tests::renamed(*variant.plugin), variant.check));
    at::set_num_threads(threads);  // some faults change it
  }
}

}  // namespace

TEST_CASE("the suite finds every second fault", "[conformance]") { names_every_second_fault(0); }

TEST_CASE("the suite finds the other faults", "[conformance][others]") { names_every_second_fault(1); }

TEST_CASE("the attention without a fault passes, and each check of the suite has to fail for some fault", "[conformance]") {
  std::set<std::string> names;
  for (const auto& variant : tests::variants()) names.insert(variant.check);
  for (const auto& check : tests::checks_of(faulty<Fault::kNone>())) {
    INFO(check.name << ": " << check.found);
    CHECK_FALSE(check.failed());
    CHECK((check.verdict == Verdict::kUnchecked || names.count(check.name) == 1));
  }
  for (const auto* name : {"state", "state padding", "recurrent", "start", "dropout draws"}) CHECK(names.count(name) == 1);
}
