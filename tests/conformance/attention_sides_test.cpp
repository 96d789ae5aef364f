// Faults outside the usual call: in another thread, with an empty state, with two masks of one shape.
#include <thread>

#include "ablate/headwise.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Side {
  kRight,
  kThreadTable,   // a factor that the factory stores in its thread
  kOwner,         // twice the output in training, if the thread is not the factory's
  kZerosSeen,     // attends to the empty memory of the initial state
  kFirstCount,    // counts one token before the first token
  kMasksTurned,   // uses the queries' mask for the keys if there are as many queries as keys
  kCausalMasked,  // if causal, clears outputs by the keys' mask
};

thread_local double of_thread = 1;

class Sided : public HeadwiseAttention {
 public:
  Sided(const AttentionContext& context, Side fault)
      : HeadwiseAttention(context, 2), fault_(fault), owner_(std::this_thread::get_id()) {
    if (is(Side::kThreadTable)) of_thread = 0.5;
  }

 private:
  static constexpr std::int64_t kHeld = 8;
  bool is(Side other) const { return fault_ == other; }

  AttentionState heads_state(std::int64_t batch) const override {
    const auto held = zeros({batch, 2, kHeld, 8}, parameters().front().tensor.options().requires_grad(false));
    const auto numbers = held.options();
    return {held, held.clone(), zeros({batch, kHeld}, numbers), full({batch}, is(Side::kFirstCount) ? 1.0 : 0.0, numbers)};
  }

  HeadOutput attend(const HeadInput& input) override {
    auto k = input.k, v = input.v;
    const auto n = input.q.size(2), m = k.size(2), batch = k.size(0);
    auto mask = input.mask;
    if (is(Side::kMasksTurned) && n == m && !input.self && input.query_mask.defined()) mask = input.query_mask;
    auto present = mask.defined() ? mask.to(k.scalar_type()) : ones({batch, m}, k.options().requires_grad(false));
    std::int64_t before = 0;
    HeadOutput output;
    Tensor count;
    if (!input.state.empty()) {
      before = kHeld;
      k = ablate::cat({input.state[0], k}, 2), v = ablate::cat({input.state[1], v}, 2);
      present = ablate::cat({is(Side::kZerosSeen) ? ones_like(input.state[2]) : input.state[2], present}, 1);
      count = input.state[3];
      output.state = {k.narrow(2, m, kHeld), v.narrow(2, m, kHeld), present.narrow(1, m, kHeld), count * 0.5 + 1};
    }
    auto gone = present.eq(0).unsqueeze(1).unsqueeze(1).expand({batch, 1, n, before + m});
    if (causal()) gone = gone.logical_or(ones({n, before + m}, TensorOptions(kBool)).triu(before + 1));
    const auto scores = (input.q.matmul(k.transpose(-1, -2)) * 0.3).masked_fill(gone, -1e30);
    auto weights = scores.softmax(-1).masked_fill(gone, 0);
    auto read = weights.matmul(v);
    if (count.defined()) read = read * (1 + 0.01 * count).view({-1, 1, 1, 1});
    if (is(Side::kThreadTable)) read = read * of_thread;
    if (is(Side::kOwner) && is_training() && std::this_thread::get_id() != owner_) read = read * 2;
    if (is(Side::kCausalMasked) && causal() && n == m && !input.self && input.mask.defined())
      read = read.masked_fill(input.mask.logical_not().unsqueeze(1).unsqueeze(-1), 0);
    output.values = read;
    return output;
  }

  Tensor ones_like(const Tensor& x) const { return ones(x.sizes(), x.options()); }

  Side fault_;
  std::thread::id owner_;
};

template <Side fault>
struct Made final : Sided {
  explicit Made(const AttentionContext& context) : Sided(context, fault) {}
};

/// Returns the attention with a state if `carries`, else the attention over another sequence.
template <Side fault>
const Descriptor& sided(bool carries) {
  const auto made = [](const Capabilities& can) {
    return tests::attention_of<Made<fault>>({.id = "sided",
                                             .version = "1.0.0",
                                             .summary = "softmax attention with a fault beside the usual call",
                                             .capabilities = can});
  };
  static const Descriptor carrying = made({.causal = true, .stateful = true}),
                          crossing = made({.causal = true, .key_padding = true, .cross_attention = true});
  return carries ? carrying : crossing;
}

const tests::AddVariants added = {
    {"a factor of the thread", &sided<Side::kThreadTable>(true), "threads"},
    {"a thread that owns the instance", &sided<Side::kOwner>(false), "threads"},
    {"an empty memory attended to", &sided<Side::kZerosSeen>(true), "start"},
    {"a count that begins at one", &sided<Side::kFirstCount>(true), "start"},
    {"the queries' mask for the keys", &sided<Side::kMasksTurned>(false), "two masks"},
    {"the keys' mask for the queries, causal", &sided<Side::kCausalMasked>(false), "two masks"},
};

}  // namespace

TEST_CASE("an attention without a fault outside the usual call passes", "[conformance]") {
  tests::Record record;
  for (const bool carries : {false, true})
    CHECK(
        record.suite(sided<Side::kRight>(carries), {"threads", "start", "two masks", "state", "cross", "query mask"}).empty());
  for (const auto* check : {"threads", "start", "two masks"}) CHECK(record.ran.count(check) == 1);
}
