// Common faults: wrong caches, draws, unused parameters, scales and normalisers, and faults outside of the output.
#include <map>

#include "ablate/headwise.h"
#include "ablate/straight_through.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Habit {
  kRight,
  kCachedMask,      // caches a mask by its shape
  kCachedScores,    // caches scores by their shape
  kKeptInput,       // reads the tokens of an earlier call
  kDeadHead,        // one head's values are always 0
  kDeadRow,         // one channel of the keys is never used
  kDeadSlot,        // one of several learned slots is never read
  kNoise,           // noise in evaluation
  kGlobalRedraw,    // redraws from torch's generator after a step
  kLateRedraw,      // redraws from torch's generator every hundred steps
  kPlainRedraw,     // redraws into a tensor that is not registered
  kWritesTraining,  // writes into its input in training
  kAuxiliaryCut,    // an auxiliary loss without a graph
  kAuxiliaryFalls,  // an auxiliary loss that falls as the weights grow
  kAuxiliaryWrong,  // an auxiliary loss with the gradient of another loss
  kAuxiliaryAll,    // right: an auxiliary loss of all queries
  kQueriesSum,      // softmax over the queries
  kByLength,        // weights sum to the number of keys divided by the number of queries
  kHardForward,     // a hard choice with a soft gradient, without a declared surrogate
  kHardDeclared,    // the same choice through straight_through()
  kHardOther,       // straight_through() with another function in the backward pass
  kRunningMean,     // right: a pass in training changes statistics
  kDecay,           // right: distant tokens have decayed to 0
  kUnscaled,        // declares that it equals softmax, but lacks 1 / sqrt(d)
  kWithoutSelf,     // declares that it equals softmax, but no token reads itself
};

class Wonted : public HeadwiseAttention {
 public:
  Wonted(const AttentionContext& context, Habit habit) : HeadwiseAttention(context, 2), habit_(habit) {
    if (is(Habit::kGlobalRedraw) || is(Habit::kLateRedraw) || is(Habit::kRunningMean))
      drawn_ = register_buffer("drawn", ones({}));
    if (is(Habit::kPlainRedraw)) drawn_ = ones({});
    if (is(Habit::kDeadSlot)) slots_ = register_parameter("slots", randn({4, 8}, context.generator));
    if (is(Habit::kAuxiliaryCut) || is(Habit::kAuxiliaryFalls) || is(Habit::kAuxiliaryWrong))
      gain_ = register_parameter("gain", randn({3}, context.generator));
  }

 private:
  bool is(Habit habit) const { return habit_ == habit; }

  void do_step(std::int64_t step, const Generator& generator) override {
    const NoGradGuard none;
    if (is(Habit::kGlobalRedraw)) drawn_.uniform_(1, 2);
    if (is(Habit::kLateRedraw) && step % 100 == 0) drawn_.uniform_(1, 2);
    if (is(Habit::kPlainRedraw)) drawn_.uniform_(1, 2, generator);
  }

  Tensor hidden(const HeadInput& input, const Tensor& scores) {
    auto gone = zeros({1, 1, 1, 1}, TensorOptions(kBool));
    const auto n = scores.size(2), keys = scores.size(3);
    if (causal()) gone = ones({n, keys}, TensorOptions(kBool)).triu(1).unsqueeze(0).unsqueeze(0);
    if (is(Habit::kWithoutSelf) && input.self && n > 1)
      gone = gone.logical_or(ones({n, keys}, TensorOptions(kBool)).tril().triu().unsqueeze(0).unsqueeze(0));
    if (!input.mask.defined()) return gone;
    auto mask = input.mask;
    if (is(Habit::kCachedMask)) mask = masks_.try_emplace(mask.sizes().vec(), mask.clone()).first->second;
    return gone.logical_or(mask.logical_not().unsqueeze(1).unsqueeze(1));
  }

  HeadOutput attend(const HeadInput& input) override {
    const auto type = input.q.scalar_type();
    const auto wide = [&](const Tensor& x) { return type == kDouble ? x : x.to(kFloat); };
    auto k = wide(input.k), v = wide(input.v);
    if (is(Habit::kWritesTraining) && is_training()) {
      const NoGradGuard none;
      input.queries.add_(0.5);
    }
    if (is(Habit::kDeadRow)) k = ablate::cat({k.narrow(3, 0, 7), zeros_like(k.narrow(3, 7, 1))}, 3);
    auto scores = wide(input.q).matmul(k.transpose(-1, -2)) / (is(Habit::kUnscaled) ? 1.0 : std::sqrt(8.0));
    if (is(Habit::kCachedScores) && !is_training())
      scores = scores_.try_emplace(scores.sizes().vec(), scores.detach().clone()).first->second;
    if (drawn_.defined()) scores = scores * drawn_.to(scores.scalar_type(), false, true);
    if (is(Habit::kRunningMean) && is_training()) {
      const NoGradGuard none;
      drawn_.mul_(0.9).add_(0.2);
    }
    if (is(Habit::kDecay)) {
      const auto n = arange(scores.size(2)).unsqueeze(1) + input.offset, m = arange(scores.size(3)).unsqueeze(0);
      scores = scores - (n - m).abs().to(scores.scalar_type()) * 0.2;
    }
    if (is(Habit::kNoise) && !is_training()) scores = scores + randn(scores.sizes(), input.generator).to(scores.scalar_type());
    const auto gone = hidden(input, scores);
    const auto kept = gone.logical_not().to(scores.scalar_type());
    auto weights = (scores - scores.detach().amax(-1, true)).exp() * kept;
    auto sum = weights.sum(is(Habit::kQueriesSum) ? -2 : -1, true);
    auto read = (weights / sum.masked_fill(sum <= 0, 1)).matmul(v);
    if (is(Habit::kByLength)) read = read * (static_cast<double>(scores.size(3)) / static_cast<double>(scores.size(2)));
    if (is(Habit::kDeadHead)) read = ablate::cat({read.narrow(1, 0, 1), zeros_like(read.narrow(1, 1, 1))}, 1);
    if (is(Habit::kDeadSlot)) read = read + slots_.narrow(0, 0, 3).sum(0).to(read.scalar_type());
    if (is(Habit::kKeptInput)) {
      if (before_.defined() && before_.sizes() == input.queries.sizes())
        read = read + before_.sum().to(read.scalar_type()) * 1e-3;
      before_ = input.queries;
    }
    const auto soft = read.tanh(), hard = (read > 0).to(read.scalar_type());
    if (is(Habit::kHardForward)) read = hard + (soft - soft.detach());
    if (is(Habit::kHardDeclared)) read = straight_through(hard, soft);
    if (is(Habit::kHardOther)) read = straight_through(hard, soft + (read * 2 - (read * 2).detach())) - soft * 0;
    HeadOutput output{.values = read.to(type)};
    if (is(Habit::kAuxiliaryCut)) output.auxiliary_loss = gain_.detach().square().sum();
    if (is(Habit::kAuxiliaryFalls)) output.auxiliary_loss = gain_.square().sum().neg();
    if (is(Habit::kAuxiliaryWrong)) output.auxiliary_loss = (gain_ * gain_.detach()).sum();
    if (is(Habit::kAuxiliaryAll)) output.auxiliary_loss = wide(input.q).square().mean();
    return output;
  }

  Habit habit_;
  Tensor drawn_, slots_, gain_, before_;
  std::map<std::vector<std::int64_t>, Tensor> masks_, scores_;
};

template <Habit habit>
struct Made final : Wonted {
  explicit Made(const AttentionContext& context) : Wonted(context, habit) {}
};

constexpr Oracle kSoftmax[] = {{"{}", "right"}};

template <Habit habit>
const Descriptor& wonted() {
  static const Descriptor made = tests::attention_of<Made<habit>>(
      {.id = habit == Habit::kRight ? "right" : "wonted",
       .version = "1.0.0",
       .summary = "softmax attention with a fault",
       .capabilities = {.causal = true,
                        .key_padding = true,
                        .cross_attention = true,
                        .averages = habit != Habit::kHardDeclared && habit != Habit::kDeadSlot,
                        .half_precision = true},
       .oracles = habit == Habit::kUnscaled || habit == Habit::kWithoutSelf ? std::span<const Oracle>(kSoftmax)
                                                                            : std::span<const Oracle>()});
  return made;
}

const tests::AddVariants added = {
    {"a mask kept by its shape", &wonted<Habit::kCachedMask>(), "calls"},
    {"scores kept by their shape", &wonted<Habit::kCachedScores>(), "calls"},
    {"inputs kept", &wonted<Habit::kKeptInput>(), "calls"},
    {"a head that comes to nothing", &wonted<Habit::kDeadHead>(), "trained"},
    {"a channel never used", &wonted<Habit::kDeadRow>(), "trained"},
    {"a slot never read", &wonted<Habit::kDeadSlot>(), "trained"},
    {"noise in evaluation", &wonted<Habit::kNoise>(), "evaluation"},
    {"a redraw from torch's generator", &wonted<Habit::kGlobalRedraw>(), "seed"},
    {"a late redraw from torch's generator", &wonted<Habit::kLateRedraw>(), "seed"},
    {"a redraw that is not registered", &wonted<Habit::kPlainRedraw>(), "save"},
    {"inputs written in training", &wonted<Habit::kWritesTraining>(), "inputs"},
    {"an auxiliary loss without a graph", &wonted<Habit::kAuxiliaryCut>(), "auxiliary"},
    {"an auxiliary loss without a floor", &wonted<Habit::kAuxiliaryFalls>(), "auxiliary"},
    {"an auxiliary loss with another's gradient", &wonted<Habit::kAuxiliaryWrong>(), "gradient"},
    {"softmax over the queries", &wonted<Habit::kQueriesSum>(), "constants"},
    {"weights by the number of queries", &wonted<Habit::kByLength>(), "constants"},
    {"a soft gradient not declared", &wonted<Habit::kHardForward>(), "gradient"},
    {"a soft gradient of another function", &wonted<Habit::kHardOther>(), "gradient"},
};

/// Returns the result of the check "equals" for a plugin whose oracle is the plugin "right".
Check equality(const Descriptor& plugin) {
  Checks checks;
  checks.only({"equals"});
  const auto candidate = make_candidate(plugin, nlohmann::json::object(), find_among({&plugin, &wonted<Habit::kRight>()}));
  check_attention(candidate, Depth::kFull, checks);
  REQUIRE(checks.all().size() == 1);
  return checks.all().front();
}

}  // namespace

TEST_CASE("an attention passes the checks if its habit is not a fault", "[conformance]") {
  tests::Record record;
  CHECK(record.suite(wonted<Habit::kRight>()).empty());
  CHECK(record.suite(wonted<Habit::kRunningMean>()).empty());
  CHECK(record.suite(wonted<Habit::kDecay>(), {"reach", "causal", "padding", "gradient"}).empty());
  CHECK(record.suite(wonted<Habit::kAuxiliaryAll>(), {"causal", "reach", "auxiliary", "gradient"}).empty());
  CHECK(record.suite(wonted<Habit::kHardDeclared>(), {"gradient", "trained", "additive", "poison"}).empty());
}

TEST_CASE("a declared oracle is checked", "[conformance]") {
  CHECK(equality(wonted<Habit::kUnscaled>()).failed());
  CHECK(equality(wonted<Habit::kWithoutSelf>()).failed());
  static const Descriptor same = [] {
    auto made = wonted<Habit::kRight>();
    made.id = "same";
    made.oracles = kSoftmax;
    made.oracle_count = 1;
    return made;
  }();
  CHECK(equality(same).passed());
  CHECK(tests::checks_of(same, {"equals"}).front().verdict == Verdict::kUnchecked);  // the plugin softmax is not available
}
