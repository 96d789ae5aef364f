// Compressions whose slots contradict their declarations: masses, segments, order, extended memories.
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::Means;
using tests::variant;

/// Wrong masses, always or only in training.
enum class Mass { kOne, kSquared, kTailLost, kEven, kOneMore, kLowTailLost };
template <Mass kind, bool only_training>
class Masses final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    if (only_training && !is_training()) return memory;
    if (kind == Mass::kOne) memory.mass = (memory.mass > 0).to(memory.mass.scalar_type());
    if (kind == Mass::kSquared) memory.mass = memory.mass.square();
    const auto has = memory.mass > 0;
    // The total is right, but the slots' shares are wrong.
    if (kind == Mass::kEven && slots().fixed > 0)
      memory.mass = (memory.mass.sum(-1, true) / has.sum(-1, true).clamp_min(1))
                        .to(memory.mass.scalar_type())
                        .expand_as(has)
                        .masked_fill(has.logical_not(), 0);
    if (kind == Mass::kOneMore && slots().rate == Rate{3, 4} && !input.mask.defined() && memory.mass.size(-1) > 3)
      memory.mass = memory.mass + (arange(memory.mass.size(-1)) == 0).to(memory.mass.scalar_type()) -
                    (arange(memory.mass.size(-1)) == 2).to(memory.mass.scalar_type());
    if (kind == Mass::kLowTailLost && slots().fixed == 0 && slots().rate.denominator >= 16 && !input.mask.defined())
      memory.mass = memory.mass.masked_fill(memory.mass < memory.mass.amax(-1, true), 0);
    if (kind == Mass::kTailLost && slots().fixed == 0)
      memory.mass = memory.mass.masked_fill(memory.mass < memory.mass.amax(-1, true), 0);
    return memory;
  }
};

/// Sets values after `behind` tokens to 0. If `behind` is 0, sets the incomplete last segment to 0, at low rates.
template <std::int64_t behind>
class ForgetsBehind final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    const auto n = x.size(2);
    const auto end = behind > 0 ? behind
                     : slots().fixed == 0 && slots().rate.denominator >= 16
                         ? n / slots().rate.denominator * slots().rate.denominator
                         : n;
    return end > 0 && n > end ? pad(own.narrow(2, 0, end), {0, 0, 0, n - end}) : own;
  }
};

/// Segments that begin one token late. Ragged, below, leaves out the incomplete last segment.
template <bool only_training>
class Shifted final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    const auto slot = Means::slots_of(input, first);
    if ((only_training && !is_training()) || slots().fixed > 0) return slot;
    return cat({slot.narrow(1, 0, 1), slot.narrow(1, 0, slot.size(1) - 1)}, 1).masked_fill(slot < 0, -1);
  }
};
template <bool only_training>
class Ragged final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    const auto slot = Means::slots_of(input, first);
    if ((only_training && !is_training()) || slots().fixed > 0) return slot;
    const auto k = slots().rate.denominator, n = slot.size(1);
    return n < k ? slot : slot.masked_fill(arange(n) >= n / k * k, -1);
  }
};

/// Divides by the full size of the segment, or by a little more than its number of tokens.
template <bool full_size>
class Divided final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    const auto& rate = slots().rate;
    if (slots().fixed > 0) return memory;
    const auto divisor = full_size ? full({}, (rate.denominator + rate.numerator - 1) / rate.numerator, memory.mass.options())
                                   : memory.mass.unsqueeze(-1) + 1e-3;
    memory.values = memory.values * memory.mass.unsqueeze(-1) / divisor;
    return memory;
  }
};

class Smoothed final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    return own * 0.9 + own.roll(1, 2) * 0.1;
  }
};
/// Declares that slots are means, but weighs tokens by their content. ReadsOtherwise declares the same, but reads relu as elu.
class CountsByContent final : public Means {
  using Means::Means;
  bool slots_are_means() const override { return true; }
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    return Means::tokens_of(x, input) * (1 + 0.01 * x.narrow(-1, 0, 1).tanh());
  }
};
class ReadsOtherwise final : public Means {
  using Means::Means;
  bool slots_are_means() const override { return true; }
  ReadOutput do_read(const ReadInput& input) override {
    auto seen = input;
    if (input.similarity == Similarity::kRelu) seen.similarity = Similarity::kElu;
    return Means::do_read(seen);
  }
};
/// Softmax with scores that are not divided by the root of the number of channels.
class Unscaled final : public Means {
  using Means::Means;
  ReadOutput do_read(const ReadInput& input) override {
    auto seen = input;
    if (input.similarity == Similarity::kSoftmax)
      seen.queries = input.queries * std::sqrt(static_cast<double>(input.queries.size(3)));
    return Means::do_read(seen);
  }
};

class OwnChannels final : public Means {
  using Means::Means;
  ReadOutput do_read(const ReadInput& input) override {
    if (input.queries.size(3) != d_head_) throw std::invalid_argument("another size of keys");
    return Means::do_read(input);
  }
};
class FirstChannel final : public Means {
  using Means::Means;
  ReadOutput do_read(const ReadInput& input) override {
    auto output = Means::do_read(input);
    output.values = output.values + input.memory.keys.narrow(3, 0, 1).mean(IntArrayRef{2}, true) * 0.1;
    return output;
  }
};

/// Multiplies by a maximum over all tokens, including later tokens, without a gradient.
template <bool only_training>
class FutureLargest final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    if (only_training && !is_training()) return own;
    return own * (own.detach().abs().amax({2, 3}, true) * 1e-2 + 1.0);
  }
};
/// Finds the largest token of the whole sequence by an argmax. If this token is late, adds a number to all slots.
class FutureChoice final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    if (x.size(2) <= 64 || slots().fixed > 0) return own;
    const auto largest = own.detach().square().sum(-1).argmax(2, true).to(own.scalar_type());
    return own + (largest > 80).unsqueeze(-1).to(own.scalar_type()) * 0.1;
  }
};
/// Declares slots complete too early, too late, or never.
template <std::int64_t by, bool only_training>
class LastMoved final : public Means {
  using Means::Means;
  Tensor last(std::int64_t count) const override {
    const auto right = Means::last(count);
    return slots().fixed > 0 || (only_training && !is_training()) ? right : (right + by).clamp_min(0);
  }
};

class DealtByLength final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    if (slots().fixed == 0 || input.held != nullptr) return Means::slots_of(input, first);
    const auto n = input.keys.size(2);
    const auto slot = (arange(n) * slots().fixed).floor_divide(n).unsqueeze(0).expand({input.keys.size(0), n});
    return input.mask.defined() ? slot.masked_fill(input.mask.logical_not(), -1) : slot;
  }
};
class FewTokens final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    if (slots().fixed > 0) memory.values = memory.values * (memory.mass / memory.mass).unsqueeze(-1);
    return memory;
  }
};

class Forgets final : public Means {
  using Means::Means;
  void extend(Memory& memory, const Memory& held) override {
    memory.keys = (memory.keys + held.keys) * 0.5;
    memory.values = (memory.values + held.values) * 0.5;
    memory.mass = memory.mass + held.mass;
  }
};
class ExtendsInPlace final : public Means {
  using Means::Means;
  void extend(Memory& memory, const Memory& held) override {
    Means::extend(memory, held);
    const NoGradGuard none;
    auto mass = held.mass;
    mass.copy_(memory.mass);
  }
};
/// Continues all items at the first item's position.
class FirstItem final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    return Means::slots_of(input, first.narrow(0, 0, 1).expand_as(first));
  }
};

/// Never reads tokens after the last complete segment, or after the first block.
enum class Left { kTail, kBlocks };
template <Left which>
class LeavesOut final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    const auto slot = Means::slots_of(input, first);
    const auto n = slot.size(1), k = slots().rate.denominator;
    const auto end = which == Left::kTail ? std::max(k, n / k * k) : 128;
    return slots().fixed > 0 ? slot : slot.masked_fill(arange(n) >= end, -1);
  }
};

class NoRate final : public Means {
 public:
  explicit NoRate(const CompressionContext& context) : Means(context) {
    if (slots().fixed == 0 && slots().rate.value() < 1) throw std::invalid_argument("only as many slots as tokens");
  }
};
class NoRateBelowHalf final : public Means {
 public:
  explicit NoRateBelowHalf(const CompressionContext& context) : Means(context) {
    if (slots().fixed == 0 && slots().rate.value() < 1 && slots().of(context.max_length) < context.max_length)
      throw std::invalid_argument("a number of slots that is not the length");
  }
};

const tests::AddVariants added = {
    {"fixed slots of one mass", variant<Masses<Mass::kEven, false>>(), "mass"},
    {"a token of another slot, at 3/4", variant<Masses<Mass::kOneMore, false>>(), "mass"},
    {"the tail's mass, at low rates", variant<Masses<Mass::kLowTailLost, false>>(), "mass"},
    {"no value behind 512 tokens", variant<ForgetsBehind<512>>(), "reach"},
    {"no value of the tail, at low rates", variant<ForgetsBehind<0>>(), "reach"},
    {"mass 1", variant<Masses<Mass::kOne, false>>(), "mass"},
    {"mass 1, in training", variant<Masses<Mass::kOne, true>>(), "mass"},
    {"mass squared", variant<Masses<Mass::kSquared, false>>(), "mass"},
    {"mass squared, in training", variant<Masses<Mass::kSquared, true>>(), "mass"},
    {"the tail's mass lost, in training", variant<Masses<Mass::kTailLost, true>>(), "mass"},
    {"segments shifted by one", variant<Shifted<false>>(), "mass"},
    {"segments shifted by one, in training", variant<Shifted<true>>(), "mass"},
    {"the tail left out", variant<Ragged<false>>(), "mass"},
    {"the tail left out, in training", variant<Ragged<true>>(), "mass"},
    {"divided by the full size", variant<Divided<true>>(), "constants"},
    {"divided by a little more", variant<Divided<false>>(), "constants"},
    {"neighbours mixed in", variant<Smoothed>(), "lossless"},
    {"no factor on the scores", variant<Unscaled>(), "lossless"},
    {"means by content", variant<CountsByContent>(), "means"},
    {"means that are read otherwise", variant<ReadsOtherwise>(), "means"},
    {"keys of its own channels alone", variant<OwnChannels>(), "projected"},
    {"a channel of its own meaning", variant<FirstChannel>(), "projected"},
    {"the largest of all tokens", variant<FutureLargest<false>>(), "causal reads"},
    {"the largest of all tokens, in training", variant<FutureLargest<true>>(), "causal reads"},
    {"a choice among all tokens, beyond a block", variant<FutureChoice>(), "causal reads"},
    {"complete too early", variant<LastMoved<-1, false>>(), "causal reads"},
    {"never complete", variant<LastMoved<(std::int64_t{1} << 40), false>>(), "causal reads"},
    {"declared complete too early", variant<LastMoved<-1, true>>(), "last"},
    {"declared complete too late", variant<LastMoved<1, false>>(), "last"},
    {"declared complete too late, in training", variant<LastMoved<2, true>>(), "last"},
    {"fixed slots by the padded length", variant<DealtByLength>(), "fixed slots"},
    {"fixed slots with fewer tokens", variant<FewTokens>(), "fixed slots"},
    {"held as much as new, whatever it was", variant<Forgets>(), "extends"},
    {"the memory held, written", variant<ExtendsInPlace>(), "extends"},
    {"every item at the first one's position", variant<FirstItem>(), "extends"},
    {"the tail never read", variant<LeavesOut<Left::kTail>>({.slots_have_keys = true}), "reach"},
    {"tokens beyond a block never read", variant<LeavesOut<Left::kBlocks>>({.slots_have_keys = true}), "reach"},
    {"no rate below 1", variant<NoRate>(), "rates"},
    {"no slots but the length", variant<NoRateBelowHalf>(), "rates"},
};

}  // namespace
