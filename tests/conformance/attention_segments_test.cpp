// States of segments with more than 256 tokens.
#include "ablate/headwise.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Long { kNone, kCutAt256, kForgotten, kMates, kMean };

/// Linear attention without a normaliser: out_i = q_i (S + sum of k_j v_j over j up to i).
class LongSums : public HeadwiseAttention {
 public:
  LongSums(const AttentionContext& context, Long fault) : HeadwiseAttention(context, 2), fault_(fault) {}

 private:
  AttentionState heads_state(std::int64_t batch) const override {
    const auto like = parameters().front().tensor;
    return {zeros({batch, heads(), d_head(), d_head()}, like.options().requires_grad(false))};
  }

  HeadOutput attend(const HeadInput& input) override {
    const auto k = input.k * 0.1;
    const auto n = k.size(2);
    const auto now = input.q.matmul(k.transpose(-1, -2)).tril().matmul(input.v);
    if (input.state.empty()) return {.values = now};
    auto before = input.state.front();
    if (n > 256 && before.size(0) >= 8 && fault_ == Long::kMates) before = before.roll(1, 0);
    if (n > 256 && before.size(0) >= 8 && fault_ == Long::kMean) before = before.mean(0, true).expand_as(before);
    if (n > 256 && fault_ == Long::kForgotten) before = before * 0.5;
    const auto most = fault_ == Long::kCutAt256 ? std::min<std::int64_t>(n, 256) : n;
    const auto added = k.narrow(2, 0, most).transpose(-1, -2).matmul(input.v.narrow(2, 0, most));
    return {.values = now + input.q.matmul(before), .state = {before + added}};
  }

  Long fault_;
};

template <Long fault>
struct MadeLong final : LongSums {
  explicit MadeLong(const AttentionContext& context) : LongSums(context, fault) {}
};

template <Long fault>
const Descriptor& segments() {
  static const Descriptor made = tests::attention_of<MadeLong<fault>>({.id = "segments",
                                                                       .version = "1.0.0",
                                                                       .summary = "sums over segments",
                                                                       .capabilities = {.causal = true,
                                                                                        .stateful = true,
                                                                                        .bidirectional = false,
                                                                                        .recurrent = true,
                                                                                        .sparse = true,
                                                                                        .time_exponent = 2,
                                                                                        .memory_exponent = 2}});
  return made;
}

const tests::AddVariants added = {
    {"a state of the first 256 tokens", &segments<Long::kCutAt256>(), "recurrent"},
    {"half a state before more than 256 tokens", &segments<Long::kForgotten>(), "recurrent"},
    {"the state of a mate before more than 256 tokens", &segments<Long::kMates>(), "state"},
    {"the mean of states before more than 256 tokens", &segments<Long::kMean>(), "state"},
};

}  // namespace

TEST_CASE("sums over segments of any length pass", "[conformance]") {
  CHECK(tests::Record().suite(segments<Long::kNone>(), {"state", "recurrent"}).empty());
}
