// Faults in forms of trials. Small float64 runs do not use these forms: float32, widths, batches, lengths, kernels, and states.
#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <utility>

#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "core/kernels/mixed_products.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Wrong {
  kNothing,
  kDecides,         // right: one decision differs in float32
  kHeads16,         // wrong in float32 with heads of 16 channels and at least 32 queries
  kHeads32,         // the same with heads of 32 channels
  kHeads8,          // the same with heads of 8 channels
  kReference,       // wrong with the reference kernels
  kTwoThreads,      // wrong with two threads
  kMixed,           // wrong with mixed products
  kWidth64,         // ignores the mask in a model of 64 channels
  kWidth64Sum,      // in a model of 64 channels, the output of a constant sequence depends on its length
  kBatch9,          // exchanges rows in a batch of nine
  kBatch17,         // exchanges rows in a batch of seventeen
  kGradientLong,    // with more than 320 tokens, half a gradient
  kGradientFloat,   // with more than 320 tokens in float32, half a gradient
  kLeakFloat,       // not causal after 300 tokens in float32
  kEmptyFloat,      // an item without tokens reads values in float32
  kDropFloat,       // dropout without its scale in float32
  kDropGradient,    // half a gradient of dropped weights in float32
  kDropOther,       // right: in float32, dropout draws other weights
  kDropOtherFloat,  // float32 draws other dropout and does not scale it
  kStateMask,       // padding written into a float32 state
  kStateDetached,   // a float32 state without its gradient
  kStateRounded,    // a float32 state rounded to bfloat16
  kStateRows,       // states exchanged in a batch of nine
  kStateEmpty,      // a float32 segment without tokens halves a state
  kFarFloat,        // a float32 state is halved after position 5,000
  kFar,             // a state of any type is halved after position 5,000
};

/// Softmax attention. With a state, also reads the sum of products of keys and values of earlier segments.
class Model : public HeadwiseAttention {
 public:
  Model(const AttentionContext& context, Wrong wrong)
      : HeadwiseAttention(context, context.parameters.integer("heads")), wrong_(wrong), width_(context.d_model) {}

 private:
  bool is(Wrong other) const { return wrong_ == other; }

  AttentionState heads_state(std::int64_t batch) const override {
    return {zeros({batch, heads(), d_head(), d_head()}, parameters().front().tensor.options().requires_grad(false))};
  }

  Tensor rows(const Tensor& x, std::int64_t batch) const { return x.size(0) == batch ? x.roll(1, 0) : x; }

  /// Returns a factor of the values; 1 if they are right.
  double factor(const HeadInput& input) const {
    const bool is_float = input.q.scalar_type() == kFloat, many = input.q.size(2) >= 32;
    const bool wrong = (is(Wrong::kHeads16) && is_float && many && d_head() == 16) ||
                       (is(Wrong::kHeads32) && is_float && many && d_head() == 32) ||
                       (is(Wrong::kHeads8) && is_float && many && d_head() == 8 && width_ > 16) ||
                       (is(Wrong::kReference) && !fused()) || (is(Wrong::kTwoThreads) && at::get_num_threads() == 2);
    if (is(Wrong::kMixed) && at::globalContext().float32MatmulPrecision() == at::Float32MatmulPrecision::MEDIUM) return 1.5;
    return wrong ? 1.01 : is(Wrong::kWidth64Sum) && width_ == 64 ? 1 + 1e-3 * static_cast<double>(input.k.size(2)) : 1;
  }

  Tensor gone(const HeadInput& input) const {
    const auto n = input.q.size(2), keys = input.k.size(2);
    auto hidden = zeros({1, 1, n, keys}, TensorOptions(kBool));
    if (causal()) hidden = ones({n, keys}, TensorOptions(kBool)).triu(1).view({1, 1, n, keys});
    if (causal() && is(Wrong::kLeakFloat) && input.q.scalar_type() == kFloat)
      hidden = hidden.logical_and(arange(n).view({1, 1, n, 1}) < 300);
    if (!input.mask.defined() || (is(Wrong::kWidth64) && width_ == 64)) return hidden;
    return hidden.logical_or(input.mask.logical_not().unsqueeze(1).unsqueeze(1));
  }

  HeadOutput attend(const HeadInput& input) override {
    const bool is_float = input.q.scalar_type() == kFloat;
    const auto n = input.q.size(2);
    auto v = input.v * factor(input);
    if ((is(Wrong::kGradientLong) || (is(Wrong::kGradientFloat) && is_float)) && n > 320) v = v * 0.5 + v.detach() * 0.5;
    if (is(Wrong::kBatch9)) v = rows(v, 9);
    if (is(Wrong::kBatch17)) v = rows(v, 17);
    if (static bool decided = false; is(Wrong::kDecides) && is_float && !std::exchange(decided, true)) v = v + 1;
    const auto hidden = gone(input);
    const auto scores = input.q.matmul(input.k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    const auto none = hidden.all(-1, true);
    const auto weights = scores.masked_fill(hidden, -1e30).softmax(-1).masked_fill(none, 0);
    auto kept = drop(weights, dropout(), input.generator);
    if ((is(Wrong::kDropOther) || is(Wrong::kDropOtherFloat)) && dropout() > 0) {
      const auto draws = empty(weights.sizes(), weights.options().requires_grad(false)).uniform_(0, 1, input.generator);
      kept = weights * draws.gt(dropout()).to(draws.scalar_type()) / (1 - dropout());
    }
    if (is_float && dropout() > 0) {
      if (is(Wrong::kDropFloat) || is(Wrong::kDropOtherFloat)) kept = kept * (1 - dropout());
      if (is(Wrong::kDropGradient)) kept = kept * 0.5 + kept.detach() * 0.5;
    }
    auto read = kept.matmul(v);
    if (is(Wrong::kEmptyFloat) && is_float) read = read + none.to(kFloat) * 0.1;
    if (input.state.empty()) return {.values = read};
    auto before = input.state.front(), k = input.k * 0.1;
    if (is_float && is(Wrong::kStateDetached)) before = before.detach();
    if (is_float && is(Wrong::kStateRounded)) before = before.to(at::kBFloat16).to(kFloat);
    if (is(Wrong::kStateRows)) before = rows(before, 9);
    const bool far = input.position.defined() && input.position.max().item().toLong() > 5000;
    if (far && (is(Wrong::kFar) || (is(Wrong::kFarFloat) && is_float))) before = before * 0.5;
    read = read + input.q.matmul(before);
    if (is_float && is(Wrong::kStateMask) && input.mask.defined()) {
      const auto padding = input.mask.logical_not().unsqueeze(1).unsqueeze(-1).to(kFloat);
      k = k + padding * 0.1, v = v + padding * 0.1;
    }
    auto after = before;
    if (is_float && is(Wrong::kStateEmpty) && input.mask.defined())
      after = after.where(input.mask.any(1).view({-1, 1, 1, 1}), after * 0.5);
    return {.values = read, .state = {after + k.transpose(-1, -2).matmul(v)}};
  }

  Wrong wrong_;
  std::int64_t width_;
};

template <Wrong wrong>
struct MadeModel final : Model {
  explicit MadeModel(const AttentionContext& context) : Model(context, wrong) {}
};

constexpr Parameter kHeads[] = {ablate::integer("heads", "2", {1, 64}, "heads")};

template <Wrong wrong, bool stateful = false>
const Descriptor& model() {
  static const Descriptor made = tests::attention_of<MadeModel<wrong>>({.id = "model",
                                                                        .version = "1.0.0",
                                                                        .summary = "softmax attention with a fault",
                                                                        .capabilities = {.causal = true,
                                                                                         .key_padding = true,
                                                                                         .cross_attention = !stateful,
                                                                                         .stateful = stateful,
                                                                                         .weight_dropout = !stateful,
                                                                                         .averages = !stateful,
                                                                                         .time_exponent = 2,
                                                                                         .memory_exponent = 2},
                                                                        .parameters = kHeads});
  return made;
}

const tests::AddVariants added = {
    {"float32 with heads of 16 channels", &model<Wrong::kHeads16>(), "forms"},
    {"float32 with heads of 32 channels", &model<Wrong::kHeads32>(), "forms"},
    {"float32 with heads of 8 channels", &model<Wrong::kHeads8>(), "forms"},
    {"reference kernels", &model<Wrong::kReference>(), "forms"},
    {"two threads", &model<Wrong::kTwoThreads>(), "forms"},
    {"the mask forgotten at 64 channels", &model<Wrong::kWidth64>(), "forms"},
    {"no average at 64 channels", &model<Wrong::kWidth64Sum>(), "forms"},
    {"rows exchanged in a batch of nine", &model<Wrong::kBatch9>(), "forms"},
    {"rows exchanged in a batch of seventeen", &model<Wrong::kBatch17>(), "forms"},
    {"half a gradient above 320 tokens", &model<Wrong::kGradientLong>(), "forms"},
    {"half a gradient above 320 tokens in float32", &model<Wrong::kGradientFloat>(), "forms"},
    {"causality forgotten behind 300 tokens in float32", &model<Wrong::kLeakFloat>(), "forms"},
    {"an item without tokens in float32", &model<Wrong::kEmptyFloat>(), "forms"},
    {"dropout without its scale in float32", &model<Wrong::kDropFloat>(), "forms"},
    {"other draws without their scale in float32", &model<Wrong::kDropOtherFloat>(), "forms"},
    {"half a gradient of dropped weights in float32", &model<Wrong::kDropGradient>(), "forms"},
    {"padding in a float32 state", &model<Wrong::kStateMask, true>(), "forms"},
    {"a float32 state without a gradient", &model<Wrong::kStateDetached, true>(), "forms"},
    {"a float32 state through bfloat16", &model<Wrong::kStateRounded, true>(), "forms"},
    {"states exchanged in a batch of nine", &model<Wrong::kStateRows, true>(), "forms"},
    {"a float32 state halved by an empty segment", &model<Wrong::kStateEmpty, true>(), "forms"},
    {"a float32 state halved behind 5,000 tokens", &model<Wrong::kFarFloat, true>(), "state"},
    {"a state halved behind 5,000 tokens", &model<Wrong::kFar, true>(), "state"},
};

}  // namespace

TEST_CASE("attentions that are right in every form pass, also if one decision differs for one input", "[conformance]") {
  tests::Record record;
  CHECK(record.suite(model<Wrong::kNothing>(), {"forms", "padding", "causal", "empty", "constants"}).empty());
  CHECK(record.suite(model<Wrong::kNothing, true>(), {"forms", "state", "state padding", "start"}).empty());
  CHECK(record.suite(model<Wrong::kDecides>(), {"forms"}).empty());
  CHECK(record.suite(model<Wrong::kDropOther>(), {"forms"}).empty());
  CHECK(record.ran.count("forms") == 1);
}

TEST_CASE("a wrong form is reported by its name", "[conformance]") {
  tests::check_mentions(tests::found(model<Wrong::kReference>(), "forms"), "float32, reference kernels");
  tests::check_mentions(tests::found(model<Wrong::kDropOtherFloat>(), "forms"), "the size of outputs");
}

TEST_CASE("mixed products are checked, or reported as unchecked", "[conformance]") {
  const bool has = !kernels::mixed_instructions().empty();
  const auto checks = tests::checks_of(model<Wrong::kMixed>(), {"forms"});
  REQUIRE(checks.size() == (has ? 1 : 2));
  CHECK(checks.front().failed() == has);
  if (!has) tests::check_mentions(checks.back().found, "mixed: ");
  CHECK(at::globalContext().float32MatmulPrecision() == at::Float32MatmulPrecision::HIGHEST);
}
