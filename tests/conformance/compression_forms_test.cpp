// Compressions that are wrong only in the shapes of studies: fused, with many heads, at the rate 1/16, written in many parts.
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::Means;
using tests::variant;

/// Reads differently if `Where` is true.
template <class Where>
class ReadsMore final : public Means {
  using Means::Means;
  ReadOutput do_read(const ReadInput& input) override {
    auto output = Means::do_read(input);
    if (Where()(input)) output.values = output.values * 1.01;
    return output;
  }
};
struct Fused {
  bool operator()(const ReadInput& input) const { return input.fused; }
};
struct NotFused {
  bool operator()(const ReadInput& input) const { return !input.fused; }
};
struct FusedOfStudies {
  bool operator()(const ReadInput& input) const {
    const auto& q = input.queries;
    return input.fused && q.scalar_type() == kFloat && q.size(3) % 16 == 0 && q.size(2) >= 32;
  }
};
struct FusedCausal {
  bool operator()(const ReadInput& input) const { return input.fused && input.causal && input.queries.size(2) >= 32; }
};
struct Wide {
  bool operator()(const ReadInput& input) const {
    return input.queries.scalar_type() == kFloat && input.queries.size(3) % 16 == 0;
  }
};
/// Gives values half of their gradient in a fused read.
class HalfFused final : public Means {
  using Means::Means;
  ReadOutput do_read(const ReadInput& input) override {
    auto output = Means::do_read(input);
    if (input.fused && input.queries.size(3) % 16 == 0) output.values = output.values * 0.5 + output.values.detach() * 0.5;
    return output;
  }
};

/// With `heads` heads, gives the last head the slots of the first head.
template <std::int64_t heads>
class SharesHead final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    for (auto* x : {&memory.keys, &memory.values})
      if (x->size(1) == heads) *x = ablate::cat({x->narrow(1, 0, heads - 1), x->narrow(1, 0, 1)}, 1);
    return memory;
  }
};
/// Halves the gradient if there are 4 heads or more.
class HalfGradientOfHeads final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    return x.size(1) < 4 ? own : own * 0.5 + own.detach() * 0.5;
  }
};

struct MassAt16 : tests::Change {
  explicit MassAt16(const CompressionContext& context) : Change(context), rate(context.slots.rate) {}
  void write(Memory& memory, const WriteInput&, bool) {
    if (rate == Rate{1, 16}) memory.mass = memory.mass * 1.01;
  }
  Rate rate;
};

/// Faults of extending a memory.
template <class Fault>
class ExtendsWrong final : public Means {
  using Means::Means;
  void extend(Memory& memory, const Memory& held) override {
    Means::extend(memory, held);
    fault_(memory, held);
  }
  Fault fault_;
};
/// Halves the values of a memory that is extended a second time.
struct Third {
  void operator()(Memory& memory, const Memory& held) {
    if (last.defined() && last.sizes().equals(held.values.sizes()) && last.equal(held.values))
      memory.values = memory.values * 0.5;
    last = memory.values.detach().clone();
  }
  Tensor last;
};
struct RowsOfNine {
  void operator()(Memory& memory, const Memory&) const {
    if (memory.values.size(0) == 9) memory.values = memory.values.flip(0);
  }
};
/// Writes only the first 700 tokens onto an existing memory.
class CutsLongParts final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    const auto slot = Means::slots_of(input, first);
    return input.held == nullptr ? slot : slot.masked_fill((arange(slot.size(1)) >= 700).unsqueeze(0), -1);
  }
};

const tests::AddVariants added = {
    {"wrong fused reads", variant<ReadsMore<Fused>>(), "forms"},
    {"wrong reads that are not fused", variant<ReadsMore<NotFused>>(), "forms"},
    {"wrong fused reads of 32 queries in float32", variant<ReadsMore<FusedOfStudies>>(), "forms"},
    {"wrong fused causal reads", variant<ReadsMore<FusedCausal>>(), "forms"},
    {"wrong reads of 16 channels in float32", variant<ReadsMore<Wide>>(), "forms"},
    {"half a gradient of a fused read", variant<HalfFused>(), "forms"},
    {"one head's slots for another's, of 4", variant<SharesHead<4>>(), "constants"},
    {"one head's slots for another's, of 8", variant<SharesHead<8>>(), "constants"},
    {"one head's slots for another's, without averages", variant<SharesHead<4>>({.slots_have_keys = true}), "reach"},
    {"half a gradient of 4 heads", variant<HalfGradientOfHeads>(), "gradient"},
    {"a little more mass at 1/16", variant<tests::Changed<MassAt16>>(), "mass"},
    {"a third part", variant<ExtendsWrong<Third>>(), "extends"},
    {"rows of nine exchanged in a held memory", variant<ExtendsWrong<RowsOfNine>>(), "batch"},
    {"the first 700 tokens of a second part alone", variant<CutsLongParts>(), "extends"},
};

}  // namespace

TEST_CASE("means are right in the shapes of studies", "[conformance]") {
  CHECK(tests::Record().suite(*variant<Means>(), {"forms", "batch", "constants", "reach", "gradient", "mass", "extends"}) ==
        std::set<std::string>{});
}
