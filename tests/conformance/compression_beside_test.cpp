// Slots that may be read together with tokens, and reports of their use: a right compression, and wrong compressions.
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::Means;
using tests::variant;

enum class Look {
  kRight,
  kUnscaled,    // scores without 1 / sqrt(d)
  kMassLost,    // ignores the mass: every slot counts once
  kHidden,      // counts the attention of masked queries
  kGraph,       // usage has a graph
  kMean,        // a mean over queries instead of a sum
  kOtherReads,  // reads differently if the use of slots is requested
};

template <Look fault>
class Looking final : public Means {
  using Means::Means;
  ReadOutput do_read(const ReadInput& input) override {
    auto queries = input.queries;
    auto memory = input.memory;
    const auto is_softmax = input.similarity == Similarity::kSoftmax;
    if (fault == Look::kUnscaled && is_softmax) queries = queries * std::sqrt(static_cast<double>(d_head_));
    if (fault == Look::kMassLost) memory.mass = memory.mass.clamp_max(1);
    const ReadInput own{
        .queries = queries, .memory = memory, .similarity = input.similarity, .causal = input.causal, .offset = input.offset};
    auto result = Means::do_read(own);
    if (!input.looks) return result;
    // If each slot's value marks only this slot, the read returns the weights.
    const auto slots = memory.keys.size(2);
    auto one = memory;
    one.values = (arange(slots).unsqueeze(0) == arange(slots).unsqueeze(1)).to(memory.keys.scalar_type());
    one.values = one.values.expand({memory.keys.size(0), memory.keys.size(1), slots, slots});
    auto asked = Means::do_read({.queries = queries, .memory = one, .similarity = input.similarity}).values;
    if (input.query_mask.defined() && fault != Look::kHidden)
      asked = asked.masked_fill(input.query_mask.logical_not().unsqueeze(1).unsqueeze(-1), 0);
    result.usage = fault == Look::kMean ? asked.mean(2) : asked.sum(2);
    result.usage = fault == Look::kGraph ? result.usage.requires_grad_() : result.usage.detach();
    if (fault == Look::kOtherReads) result.values = result.values * 2;
    return result;
  }
};

constexpr Capabilities promised() {
  auto can = tests::kMeans;
  can.beside_tokens = true;
  return can;
}
constexpr Capabilities kBeside = promised();

const tests::AddVariants added = {
    {"scores without a scale", variant<Looking<Look::kUnscaled>>(kBeside), "beside tokens"},
    {"slots that count once", variant<Looking<Look::kMassLost>>(kBeside), "beside tokens"},
    {"looks of masked queries", variant<Looking<Look::kHidden>>(kBeside), "looks"},
    {"looks with a graph", variant<Looking<Look::kGraph>>(kBeside), "looks"},
    {"the mean of the looks", variant<Looking<Look::kMean>>(kBeside), "looks"},
    {"another read if looks are requested", variant<Looking<Look::kOtherReads>>(kBeside), "looks"},
};

}  // namespace

TEST_CASE("a compression whose slots may be beside tokens, and that reports their use, passes") {
  CHECK(tests::Record().suite(*variant<Looking<Look::kRight>>(kBeside)).empty());
}
