// Compressions with wrong gradients, or with numbers in a type that is too narrow.
#include "ablate/operation.h"
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::Means;
using tests::variant;

class KeysDetached final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    return Means::tokens_of(x.is_same(input.keys) ? x.detach() : x, input);
  }
};
class DetachedInTraining final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    return Means::tokens_of(is_training() && x.is_same(input.values) ? x.detach() : x, input);
  }
};
/// Has its own gradient, which is twice as large if there is a mask.
class WrongWhereMasked final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const double factor = input.mask.defined() ? 2 : 1;
    const auto own = Means::tokens_of(x, input);
    return with_gradient(
        {own}, [&](Saved&) { return own.clone(); },
        [factor](const Tensor& gradient, const Saved&) -> std::vector<Tensor> { return {gradient * factor}; });
  }
};
/// No gradient after the first block.
class FirstBlock final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto n = x.size(2);
    return Means::tokens_of(n > 64 ? cat({x.narrow(2, 0, 64), x.narrow(2, 64, n - 64).detach()}, 2) : x, input);
  }
};
/// If all segments are complete, tokens after the first 16 of a segment get no gradient (`stops`) or, in training, twice the
/// right gradient.
template <bool stops>
class WholeSegments final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    const auto k = slots().rate.denominator;
    if (slots().fixed > 0 || k < 32 || x.size(2) % k != 0 || input.mask.defined()) return own;
    const auto late = (arange(x.size(2)).remainder(k) >= 16).view({1, 1, -1, 1});
    if (stops) return own.detach().where(late, own);
    return is_training() ? own + own.masked_fill(late.logical_not(), 0) - own.masked_fill(late.logical_not(), 0).detach() : own;
  }
};
class DetachedCausally final : public Means {
  using Means::Means;
  ReadOutput do_read(const ReadInput& input) override {
    auto seen = input;
    if (input.causal) seen.queries = input.queries.detach();
    return Means::do_read(seen);
  }
};

/// A learned gain, partly without effect.
enum class Dead { kWhole, kHead, kSlot, kChannel, kNone };
template <Dead dead>
class Gains final : public Means {
 public:
  explicit Gains(const CompressionContext& context) : Means(context) {
    gain_ = register_parameter("gain", ones({context.heads, slots().of(context.max_length), context.d_head}));
  }

 private:
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    auto gain = gain_.narrow(1, 0, memory.values.size(2)).to(memory.values.scalar_type());
    if (dead == Dead::kWhole) gain = gain.detach();
    if (dead == Dead::kHead) gain = gain.narrow(0, 0, 1);
    if (dead == Dead::kChannel) gain = gain.narrow(2, 0, 1);
    if (dead == Dead::kSlot) gain = cat({gain.narrow(1, 0, 1), gain.narrow(1, 0, gain.size(1) - 1)}, 1);
    memory.values = memory.values * gain;
    return memory;
  }
  Tensor gain_;
};
constexpr Capabilities kLearned = {.slots_have_keys = true, .causal_reads = true};

/// A learned tensor that is not registered.
class PlainMember final : public Means {
 public:
  explicit PlainMember(const CompressionContext& context) : Means(context), gain_(ones({}).requires_grad_()) {}

 private:
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    return Means::tokens_of(x, input) * gain_.to(x.scalar_type());
  }
  Tensor gain_;
};

enum class Loss { kRight, kStopsAtInputs, kDetached, kNoGraph, kWeights, kInputs, kWrongFactor, kOneSided };
/// Auxiliary loss: the memory's keys times a learned gain must equal the memory's keys.
template <Loss kind>
class Auxiliary final : public Means {
 public:
  explicit Auxiliary(const CompressionContext& context) : Means(context) { gain_ = register_parameter("gain", ones({}) * 0.9); }

 private:
  ReadOutput do_read(const ReadInput& input) override {
    auto output = Means::do_read(input);
    const auto gain = gain_.to(output.values.scalar_type());
    const auto& keys = input.memory.keys;
    const auto from = kind == Loss::kStopsAtInputs ? keys.detach() : keys;
    output.values = output.values * gain;
    auto& loss = output.auxiliary_loss;
    loss = (from * gain - from).square().mean();
    if (kind == Loss::kDetached) loss = (from * gain.detach() - from).square().mean() + (gain * 0).sum();
    if (kind == Loss::kNoGraph) loss = loss.detach();
    if (kind == Loss::kWeights) loss = loss - gain.square().sum() * 3;
    if (kind == Loss::kInputs) loss = loss - keys.square().mean();
    if (kind == Loss::kOneSided) loss = gain.sum();
    if (kind == Loss::kWrongFactor) loss = loss + (loss * 3 - (loss * 3).detach());
    return output;
  }
  Tensor gain_;
};

class TenthPower final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    return own * (own.pow(10).sum(-1, true) / own.pow(10).sum(-1, true).clamp_min(1e-30));
  }
};
/// Subtracts no maximum before the exponential.
class NoMaximum final : public Means {
  using Means::Means;
  ReadOutput do_read(const ReadInput& input) override {
    if (input.similarity != Similarity::kSoftmax || input.causal) return Means::do_read(input);
    const auto& q = input.queries;
    const auto scores = q.matmul(input.memory.keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(3)));
    const auto weights = scores.exp() * input.memory.mass.unsqueeze(-2);
    const auto sum = weights.sum(-1, true);
    return {.values = weights.matmul(input.memory.values) / sum.masked_fill(sum <= 0, 1)};
  }
};

class ThroughHalf final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    return x.scalar_type() == kFloat ? own.to(at::kBFloat16).to(kFloat) : own;
  }
};
class HalfGradient final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    if (x.scalar_type() != kFloat) return own;
    return with_gradient(
        {own}, [&](Saved&) { return own.clone(); },
        [](const Tensor& gradient, const Saved&) -> std::vector<Tensor> { return {gradient.to(at::kBFloat16).to(kFloat)}; });
  }
};
class DoubleValues final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    memory.values = memory.values.to(kDouble);
    return memory;
  }
};

/// No gradient of values in half precision or, if not `values`, of keys in bfloat16 in training.
template <bool values>
class DetachedInHalf final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const bool stops = values ? c10::isReducedFloatingType(x.scalar_type()) : is_training() && x.scalar_type() == at::kBFloat16;
    return Means::tokens_of(stops && x.is_same(values ? input.values : input.keys) ? x.detach() : x, input);
  }
};

/// Computes in half precision: sums of prefixes, sums token by token, counts of tokens, or numbers beyond the type's range.
enum class Half { kPrefixes, kOneByOne, kCounts, kBeyond };
template <Half kind>
class InHalf final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    const auto type = input.keys.scalar_type();
    if (!c10::isReducedFloatingType(type) || slots().rate.numerator != 1 || slots().fixed > 0) return memory;
    if (kind == Half::kCounts) {
      // A count that grows by 1 stops at 2048 in float16, and at 256 in bfloat16.
      memory.mass = memory.mass.clamp_max(type == at::kHalf ? 2048 : 256);
      return memory;
    }
    const auto x = clear_padding(input.values, input.mask);
    if (kind == Half::kBeyond) {
      memory.values = memory.values * 1e5 / 1e5;
      return memory;
    }
    const auto k = slots().rate.denominator, n = x.size(2);
    std::vector<Tensor> sums;
    const auto prefixes = kind == Half::kPrefixes ? pad(x.cumsum(2), {0, 0, 1, 0}) : Tensor();
    for (std::int64_t begin = 0; begin < n; begin += k) {
      const auto end = std::min(begin + k, n);
      if (kind == Half::kPrefixes) {
        sums.push_back(prefixes.select(2, end) - prefixes.select(2, begin));
        continue;
      }
      auto sum = x.select(2, begin);
      for (auto p = begin + 1; p < end; ++p) sum = sum + x.select(2, p);
      sums.push_back(sum);
    }
    memory.values = stack(sums, 2) / memory.mass.clamp_min(1).unsqueeze(-1);
    return memory;
  }
};

const tests::AddVariants added = {
    {"keys without a gradient", variant<KeysDetached>(), "gradient"},
    {"values without a gradient, in training", variant<DetachedInTraining>(), "gradient"},
    {"a gradient wrong under a mask", variant<WrongWhereMasked>(), "gradient"},
    {"no gradient beyond a block", variant<FirstBlock>(), "gradient"},
    {"no gradient behind 16 tokens of a segment", variant<WholeSegments<true>>(), "gradient"},
    {"a gradient twice in whole segments, in training", variant<WholeSegments<false>>(), "gradient"},
    {"values without a gradient, in half precision", variant<DetachedInHalf<true>>(), "half"},
    {"keys without a gradient, in training, in bfloat16", variant<DetachedInHalf<false>>(), "half"},
    {"no gradient of causal reads", variant<DetachedCausally>(), "gradient"},
    {"a parameter cut off", variant<Gains<Dead::kWhole>>(kLearned), "trained"},
    {"a head's share never used", variant<Gains<Dead::kHead>>(kLearned), "trained"},
    {"a slot's share never used", variant<Gains<Dead::kSlot>>(kLearned), "trained"},
    {"channels never used", variant<Gains<Dead::kChannel>>(kLearned), "trained"},
    {"a learned tensor not registered", variant<PlainMember>(), "trained"},
    {"an auxiliary loss that trains nothing", variant<Auxiliary<Loss::kDetached>>(kLearned), "auxiliary"},
    {"an auxiliary loss without a graph", variant<Auxiliary<Loss::kNoGraph>>(kLearned), "auxiliary"},
    {"an auxiliary loss that falls with its weights", variant<Auxiliary<Loss::kWeights>>(kLearned), "auxiliary"},
    {"an auxiliary loss that falls with the inputs", variant<Auxiliary<Loss::kInputs>>(kLearned), "auxiliary"},
    {"an auxiliary loss that falls on one side", variant<Auxiliary<Loss::kOneSided>>(kLearned), "auxiliary"},
    {"an auxiliary loss of another gradient", variant<Auxiliary<Loss::kWrongFactor>>(kLearned), "auxiliary"},
    {"a tenth power", variant<TenthPower>(), "scale"},
    {"no maximum before an exponential", variant<NoMaximum>(), "scale"},
    {"float32 through half precision", variant<ThroughHalf>(), "types"},
    {"a gradient through half precision", variant<HalfGradient>(), "types"},
    {"values in float64", variant<DoubleValues>(), "types"},
    {"prefix sums in half precision", variant<InHalf<Half::kPrefixes>>(), "half"},
    {"sums in half precision", variant<InHalf<Half::kOneByOne>>(), "half"},
    {"counts in half precision", variant<InHalf<Half::kCounts>>(), "half"},
    {"beyond float16 on the way", variant<InHalf<Half::kBeyond>>(), "half"},
};

}  // namespace

TEST_CASE("learned gains, and an auxiliary loss that may stop at its inputs, are no fault") {
  CHECK(tests::Record().suite(*variant<Gains<Dead::kNone>>(kLearned)) == std::set<std::string>{});
  CHECK(tests::Record().suite(*variant<Auxiliary<Loss::kRight>>(kLearned)) == std::set<std::string>{});
  CHECK(tests::Record().suite(*variant<Auxiliary<Loss::kStopsAtInputs>>(kLearned)) == std::set<std::string>{});
}
