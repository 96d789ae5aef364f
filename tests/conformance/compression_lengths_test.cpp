// Compressions that are wrong only at some lengths, in large batches, in long segments, or at the end of one segment.
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::Means;
using tests::variant;

bool is_prime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

/// Means that leave out padding, but count padding as tokens if `Where` is true for the keys and slots.
template <class Where>
class CountsAt final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    auto seen = input;
    if (Where()(input.keys, slots())) seen.mask = Tensor();
    return Means::slots_of(seen, first);
  }
};
struct At128 {
  bool operator()(const Tensor& keys, const Slots&) const { return keys.size(2) % 128 == 0; }
};
struct OfEight {
  bool operator()(const Tensor& keys, const Slots&) const { return keys.size(0) >= 8; }
};
struct At48 {
  bool operator()(const Tensor& keys, const Slots&) const { return keys.size(2) == 48; }
};
struct Beyond2048 {
  bool operator()(const Tensor& keys, const Slots&) const { return keys.size(2) > 2048; }
};
struct OfLongSegments {
  bool operator()(const Tensor&, const Slots& slots) const { return slots.fixed == 0 && slots.rate.value() < 1.0 / 256; }
};

/// Puts the last token into no slot if `Where` is true.
template <class Where>
class DropsLast final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    const auto slot = Means::slots_of(input, first);
    const auto n = input.keys.size(2);
    return Where()(n) ? slot.masked_fill((arange(n) == n - 1).unsqueeze(0), -1) : slot;
  }
};
struct Prime {
  bool operator()(std::int64_t n) const { return n > 70 && is_prime(n); }
};
struct OneBehind {
  bool operator()(std::int64_t n) const { return n > 65 && n % 64 == 1; }
};

struct MeanOfEight : tests::Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput& input, bool) {
    if (input.keys.size(0) >= 8) memory.values = memory.values + memory.values.detach().mean(0, true) * 1e-3;
  }
};
struct LargerAt64 : tests::Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput& input, bool) {
    if (input.keys.size(2) % 64 == 0 && input.keys.size(2) > 128) memory.values = memory.values * 1.01;
  }
};
/// Divides a segment's sum by at most 256, even with more tokens.
struct AtMost256 : tests::Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput&, bool) {
    memory.values = memory.values * (memory.mass / memory.mass.clamp(1, 256)).clamp_min(1).unsqueeze(-1);
  }
};
struct MassAt129 : tests::Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput& input, bool) {
    if (input.keys.size(2) == 129) memory.mass = memory.mass * 2.0;
  }
};
/// Reads the token after a segment, without a gradient, in one slot.
template <std::int64_t at>
struct LeakAt : tests::Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput& input, bool) {
    if (input.keys.size(2) <= at + 1 || !memory.last.defined()) return;
    const auto slot = (memory.last == at).to(memory.values.scalar_type()).view({1, 1, -1, 1});
    memory.values = memory.values + input.values.detach().narrow(2, at + 1, 1) * slot * 1e-3;
  }
};
struct HalfGradient : tests::Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput& input, bool) {
    if (input.keys.size(2) == 3) memory.values = memory.values * 0.5 + memory.values.detach() * 0.5;
  }
};
/// Forgets half of a memory of more than 256 tokens.
class ForgetsHeld final : public Means {
  using Means::Means;
  void extend(Memory& memory, const Memory& held) override {
    auto own = held;
    if (held.mass.sum(-1).max().item().toDouble() > 256) own.mass = held.mass * 0.5;
    Means::extend(memory, own);
  }
};
/// Writes only the first 256 tokens onto an existing memory.
class CutsParts final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    const auto slot = Means::slots_of(input, first);
    return input.held == nullptr ? slot : slot.masked_fill((arange(slot.size(1)) >= 256).unsqueeze(0), -1);
  }
};

/// Puts tokens from 2304 on into no slot.
class Forgets2304 final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    const auto slot = Means::slots_of(input, first);
    return slot.masked_fill((arange(slot.size(1)) >= 2304).unsqueeze(0), -1);
  }
};

const tests::AddVariants added = {
    {"padding counted at multiples of 128", variant<CountsAt<At128>>(), "padding"},
    {"padding counted at 48", variant<CountsAt<At48>>(), "padding"},
    {"padding counted in batches of 8", variant<CountsAt<OfEight>>(), "padding"},
    {"padding counted in segments beyond 256", variant<CountsAt<OfLongSegments>>(), "padding"},
    {"the last token dropped of primes above 70", variant<DropsLast<Prime>>(), "padding"},
    {"the last token dropped if one is left after blocks of 64", variant<DropsLast<OneBehind>>(), "padding"},
    {"padding counted beyond 2048", variant<CountsAt<Beyond2048>>(), "padding"},
    {"a mean of 8 mates", variant<tests::Changed<MeanOfEight>>(), "batch"},
    {"larger values at multiples of 64", variant<tests::Changed<LargerAt64>>(), "constants"},
    {"a segment's sum divided by 256 at most", variant<tests::Changed<AtMost256>>(), "constants"},
    {"twice the mass at 129 tokens", variant<tests::Changed<MassAt129>>(), "mass"},
    {"half a gradient at 3 tokens", variant<tests::Changed<HalfGradient>>(), "gradient"},
    {"a leak at token 201 alone", variant<tests::Changed<LeakAt<200>>>(), "causal reads"},
    {"a leak at token 832 alone", variant<tests::Changed<LeakAt<831>>>(), "causal reads"},
    {"half of a memory of more than 256 tokens forgotten", variant<ForgetsHeld>(), "extends"},
    {"the first 256 tokens of a part alone", variant<CutsParts>(), "extends"},
};

}  // namespace

TEST_CASE("means are right at every length", "[conformance]") {
  const std::set<std::string> wide = {"padding", "batch", "constants", "mass", "gradient", "causal reads", "extends", "reach"};
  CHECK(tests::Record().suite(*variant<Means>(), wide) == std::set<std::string>{});
}

TEST_CASE("a requested length of a compression is checked, too", "[conformance]") {
  const auto look = [](const Descriptor& plugin, std::int64_t length) {
    auto candidate = tests::candidate_of(plugin);
    candidate.requested_length = length;
    Checks checks;
    checks.only({"padding"});
    check_compression(candidate, Depth::kFull, checks);
    return checks.lengths();
  };
  using Lengths = std::map<std::string, std::int64_t>;
  CHECK(look(*variant<Forgets2304>(), 0) == Lengths{{"any", 2113}});
  CHECK(look(*variant<Forgets2304>(), 2400).empty());
  CHECK(look(*variant<Means>(), 2400) == Lengths{{"any", 2400}});
}
