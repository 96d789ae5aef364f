// The suite is only worth something if it fails: compressions with one known fault each.
#include "ablate/compression.h"
#include "ablate/padding.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Fault {
  kNone,
  kPaddedZerosCounted,
  kFullSizeForRagged,
  kBatchStatistic,
  kPaddedNaN,
  kOwnRandomness,
  kBufferMoves,
  kDraws,           // evaluation draws from the generator that is handed in
  kWrites,          // padding is zeroed in place
  kStepsParameter,  // a parameter set after a step
  kCastsKept,       // a tensor that is never to be cast, cast
  kUnsaved,
  kShared,
  kAllExist,       // slots not told, though items have fewer
  kEmptySlot,      // 0 / 0 where a slot has no token
  kDetached,       // keys without a gradient
  kTenthPower,     // beyond float32 where inputs are large
  kFirstStep,      // a mean over the steps before the first one
  kWrongType,      // values in float64, whatever the inputs
  kBeyondHalf,     // beyond float16 on the way
  kSmoothed,       // neighbours mixed in, at any rate
  kOwnChannels,    // reads keys of its own size alone
  kBound,          // a parameter divided by, whose range holds 0
  kEarly,          // a slot is told complete before its last token
  kNeverDone,      // no slot is ever told complete
  kFixedByLength,  // tokens are dealt to fixed slots by the padded length
  kForgets,        // what is held counts as much as what is new, however long it was
};

/// Means of segments at any rate, or of every fixed-th token, by plain loops, with a fault.
template <Fault fault>
class Means final : public Compression {
 public:
  explicit Means(const CompressionContext& context)
      : Compression(context), d_head_(context.d_head), every_(static_cast<double>(context.parameters.integer("every"))) {
    calls_ = register_buffer("calls", zeros({1}));
    if (fault == Fault::kStepsParameter) gain_ = register_parameter("gain", ones({}));
    if (fault == Fault::kCastsKept) kept_ = register_buffer("kept", ones({3}), {.type = true});
    if (fault == Fault::kUnsaved) features_ = empty({}).uniform_(0, 1, context.generator);
    if (fault == Fault::kShared) {
      static const Tensor shared = ones({});
      features_ = register_buffer("shared", shared);
    }
    noise_ = fault == Fault::kOwnRandomness ? empty({1}).uniform_(0, 1).item().toDouble() : 0;
  }

 private:
  /// The slot of each token; `first`: how many were written before.
  std::vector<std::int64_t> slots_of(std::int64_t n, std::int64_t first) const {
    std::vector<std::int64_t> all;
    for (std::int64_t p = 0; p < n; ++p)
      all.push_back(slots().fixed == 0               ? slots().rate.slot_of(p)
                    : fault == Fault::kFixedByLength ? p * slots().fixed / n
                                                     : (first + p) % slots().fixed);
    return all;
  }

  Tensor changed(Tensor x, const WriteInput& input) const {
    const auto& mask = input.mask;
    if (fault != Fault::kPaddedNaN)
      x = clear_padding(x, mask);
    else if (mask.defined())
      x = x * mask.unsqueeze(1).unsqueeze(-1);
    if (fault == Fault::kTenthPower) x = x * (x.pow(10).sum(-1, true) / x.pow(10).sum(-1, true));
    if (fault == Fault::kBeyondHalf) x = x * 1e5 / 1e5;
    if (fault == Fault::kSmoothed) x = x * 0.9 + x.roll(1, 2) * 0.1;
    if (fault == Fault::kBound) x = x * every_ / every_;
    if (fault == Fault::kBatchStatistic) x = x - x.mean(IntArrayRef{0}, true) * 1e-3;
    if (fault == Fault::kStepsParameter) x = x * gain_.to(x.scalar_type());
    return x;
  }

  Memory do_write(const WriteInput& input) override {
    const auto n = input.keys.size(2), count = slots().of(n);
    const auto first = input.held != nullptr ? static_cast<std::int64_t>(input.held->mass[0][0].sum().item().toDouble()) : 0;
    const auto slot = slots_of(n, first);
    if (fault == Fault::kWrites && input.mask.defined()) {
      const NoGradGuard none;
      input.values.masked_fill_(input.mask.logical_not().unsqueeze(1).unsqueeze(-1), 0);
    }
    const auto options = input.values.options().requires_grad(false);
    const auto tokens = input.mask.defined() ? input.mask.to(options.dtype()).view({-1, 1, n, 1})
                                             : ones({input.values.size(0), 1, n, 1}, options);
    Memory memory;
    std::vector<Tensor> counts;
    const auto mean = [&](const Tensor& given) {
      const auto x = changed(given, input);
      std::vector<Tensor> sums;
      counts.clear();
      for (std::int64_t j = 0; j < count; ++j) {
        std::vector<std::int64_t> members;
        for (std::int64_t p = 0; p < n; ++p)
          if (slot[static_cast<std::size_t>(p)] == j) members.push_back(p);
        const auto index = integers(members);
        sums.push_back(x.index_select(2, index).sum(2));
        counts.push_back(tokens.index_select(2, index).sum(2));
        const auto real = counts.back().clamp_min(1);
        if (fault == Fault::kFullSizeForRagged && slots().fixed == 0 && slots().rate.numerator == 1)
          sums.back() = sums.back() * (real / static_cast<double>(slots().rate.denominator));
        if (fault == Fault::kPaddedZerosCounted && !members.empty())
          sums.back() = sums.back() * (real / static_cast<double>(members.size()));
      }
      const auto divisor = ablate::stack(counts, 2);
      return ablate::stack(sums, 2) / (fault == Fault::kEmptySlot ? divisor : divisor.clamp_min(1)) + noise_;
    };
    if (fault == Fault::kBufferMoves) calls_ += 1;
    if (fault == Fault::kDraws && !is_training()) randn({1}, input.generator);
    memory.keys = mean(fault == Fault::kDetached ? input.keys.detach() : input.keys);
    memory.values = mean(input.values);
    memory.mass = ablate::stack(counts, 2).squeeze(-1);
    if (fault == Fault::kFirstStep) memory.values = memory.values * (calls_.to(options.dtype()) * 0 + 1);
    if (fault == Fault::kWrongType) memory.values = memory.values.to(kDouble);
    // The fault is to keep what was drawn as a plain member: it is neither saved nor restored.
    if (features_.defined()) memory.values = memory.values * features_.to(memory.values.scalar_type());
    if (fault != Fault::kAllExist) memory.slots = existing_slots(slots(), input.mask);
    memory.last = last(count);
    if (input.held != nullptr) extend(memory, *input.held);
    return memory;
  }

  Tensor last(std::int64_t count) const {
    std::vector<std::int64_t> all(static_cast<std::size_t>(count), std::int64_t{1} << 40);
    if (slots().fixed == 0 && fault != Fault::kNeverDone)
      for (std::int64_t j = 0, p = 0; j < count; ++j) {
        while (slots().rate.slot_of(p + 1) == j) ++p;
        all[static_cast<std::size_t>(j)] = fault == Fault::kEarly ? p - 1 : p;
        ++p;
      }
    return integers(all);
  }

  static void extend(Memory& memory, const Memory& held) {
    const auto both = memory.mass + held.mass;
    const auto share = fault == Fault::kForgets ? zeros_like(both) + 0.5 : held.mass / both.clamp_min(1);
    memory.keys = memory.keys + (held.keys - memory.keys) * share.unsqueeze(-1);
    memory.values = memory.values + (held.values - memory.values) * share.unsqueeze(-1);
    memory.mass = both;
  }

  ReadOutput do_read(const ReadInput& input) override {
    const auto& memory = input.memory;
    const auto& q = input.queries;
    if (fault == Fault::kOwnChannels && q.size(3) != d_head_) throw std::invalid_argument("another size of keys");
    const auto map = [&](const Tensor& x) { return input.similarity == Similarity::kRelu ? x.relu() : elu(x) + 1; };
    const bool softmax = input.similarity == Similarity::kSoftmax;
    const auto none = (memory.mass <= 0).unsqueeze(-2);
    auto hidden = none;
    if (input.causal) {
      const auto position = arange(q.size(2)) + input.offset;
      hidden = hidden.logical_or(memory.last.unsqueeze(0) > position.unsqueeze(1));
    }
    auto weights = softmax ? q.matmul(memory.keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(3)))
                           : map(q).matmul(map(memory.keys).transpose(-1, -2));
    if (softmax) weights = (weights - weights.amax(-1, true).detach()).exp();
    weights = (weights * memory.mass.unsqueeze(-2)).masked_fill(hidden, 0);
    const auto sum = weights.sum(-1, true);
    return {.values = (weights.matmul(memory.values) / sum.masked_fill(sum <= 0, 1)).to(q.scalar_type())};
  }

  void do_step(std::int64_t step, const Generator&) override {
    const NoGradGuard none;
    if (fault == Fault::kFirstStep) calls_.add_(1).div_(step - 1);
    if (fault == Fault::kStepsParameter) gain_.mul_(0.5);
    if (fault == Fault::kCastsKept) kept_.set_data(kept_.to(at::kHalf));
  }

  std::int64_t d_head_;
  double every_;
  Tensor calls_, features_, gain_, kept_;
  double noise_;
};

constexpr Parameter kParameters[] = {integer("every", "1", {0, 8}, "a factor that cancels")};

tests::Record record;

/// The names of the checks that fail.
template <Fault fault>
std::set<std::string> caught() {
  static const auto descriptor = tests::compression_of<Means<fault>>({.id = "means",
                                                                      .version = "1.0.0",
                                                                      .summary = "segment means with a fault",
                                                                      .capabilities = {.slots_have_keys = true,
                                                                                       .averages = true,
                                                                                       .lossless_at_rate_1 = true,
                                                                                       .causal_reads = true,
                                                                                       .fixed_slots = true,
                                                                                       .extends = true,
                                                                                       .half_precision = true},
                                                                      .parameters = kParameters});
  return record.suite(descriptor);
}

using Names = std::set<std::string>;

}  // namespace

TEST_CASE("the suite passes a plain loop and fails what is wrong") {
  CHECK(caught<Fault::kNone>() == Names{});
  CHECK(caught<Fault::kPaddedZerosCounted>().count("padding") == 1);
  CHECK(caught<Fault::kFullSizeForRagged>().count("constants") == 1);
  CHECK(caught<Fault::kBatchStatistic>().count("batch") == 1);
  CHECK(caught<Fault::kPaddedNaN>().count("poison") == 1);
  CHECK(caught<Fault::kOwnRandomness>().count("seed") == 1);
  CHECK(caught<Fault::kBufferMoves>().count("frozen") == 1);
  CHECK(caught<Fault::kDraws>() == Names{"frozen"});
  CHECK(caught<Fault::kWrites>().count("inputs") == 1);
  CHECK(caught<Fault::kStepsParameter>().count("step") == 1);
  CHECK(caught<Fault::kCastsKept>() == Names{"kept"});
  CHECK(caught<Fault::kUnsaved>().count("save") == 1);
  CHECK(caught<Fault::kShared>().count("instances") == 1);
  CHECK(caught<Fault::kAllExist>() == Names{"slots"});
  CHECK(caught<Fault::kEmptySlot>().count("empty") == 1);
  CHECK(caught<Fault::kDetached>().count("gradient") == 1);
  CHECK(caught<Fault::kTenthPower>().count("scale") == 1);
  CHECK(caught<Fault::kFirstStep>().count("training") == 1);
  CHECK(caught<Fault::kWrongType>().count("type") == 1);
  CHECK(caught<Fault::kBeyondHalf>() == Names{"half"});
  CHECK(caught<Fault::kSmoothed>().count("lossless") == 1);
  CHECK(caught<Fault::kOwnChannels>() == Names{"projected"});
  CHECK(caught<Fault::kBound>() == Names{"runs"});
  CHECK(caught<Fault::kEarly>() == Names{"causal reads"});
  CHECK(caught<Fault::kNeverDone>() == Names{"causal reads"});
  CHECK(caught<Fault::kFixedByLength>().count("fixed slots") == 1);
  CHECK(caught<Fault::kForgets>() == Names{"extends"});
  CHECK(record.failed == record.ran);  // every check can fail
}
