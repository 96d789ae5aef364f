// Attentions that ignore the causal mask in one tile, far after the start. One attention does this only with a full memory.
#include "ablate/headwise.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Forgets {
  kNothing,
  kFuture24,       // in a tile of 24 tokens at 1,000
  kFuture58,       // in a tile of 58 tokens at 1,030
  kFutureCarried,  // in the tile of kFuture24, only with a full memory
};

class Tiled : public HeadwiseAttention {
 public:
  Tiled(const AttentionContext& context, Forgets forgets)
      : HeadwiseAttention(context, HeadOptions{.heads = 2, .memory = 16}), forgets_(forgets) {}

 private:
  bool is(Forgets what) const { return forgets_ == what; }

  HeadOutput attend(const HeadInput& input) override {
    const auto n = input.q.size(2), memory = input.offset;
    const auto here = arange(n).unsqueeze(1), there = (arange(memory + n) - memory).unsqueeze(0);
    const bool is_full = memory > 0 && (!input.mask.defined() || input.mask.narrow(1, 0, memory).all().item().toBool());
    const auto within = [](const Tensor& x, std::int64_t first, std::int64_t count) {
      return (x >= first).logical_and(x < first + count);
    };
    auto gone = there > here;
    const auto opens = [&](std::int64_t first, std::int64_t count) {
      gone = gone.logical_and(within(here, first, count).logical_and(within(there, first, count)).logical_not());
    };
    if (is(Forgets::kFuture24) || (is(Forgets::kFutureCarried) && is_full)) opens(1000, 24);
    if (is(Forgets::kFuture58)) opens(1030, 58);
    gone = gone.unsqueeze(0).unsqueeze(0);
    if (input.mask.defined()) gone = gone.logical_or(input.mask.logical_not().unsqueeze(1).unsqueeze(1));
    const auto scores = input.q.matmul(input.k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    const auto weights = (scores - scores.detach().amax(-1, true)).exp().masked_fill(gone, 0);
    const auto sum = weights.sum(-1, true);
    return {.values = (weights / sum.masked_fill(sum <= 0, 1)).matmul(input.v)};
  }

  Forgets forgets_;
};

template <Forgets forgets>
struct Made final : Tiled {
  explicit Made(const AttentionContext& context) : Tiled(context, forgets) {}
};

template <Forgets forgets>
const Descriptor& tiled() {
  static const Descriptor made = tests::attention_of<Made<forgets>>({.id = "tiled",
                                                                     .version = "1.0.0",
                                                                     .summary = "softmax attention with a memory",
                                                                     .capabilities = {.causal = true,
                                                                                      .key_padding = true,
                                                                                      .stateful = true,
                                                                                      .bidirectional = false,
                                                                                      .time_exponent = 2,
                                                                                      .memory_exponent = 2}});
  return made;
}

const tests::AddVariants added = {
    {"a tile of 24 without its causal mask", &tiled<Forgets::kFuture24>(), "causal"},
    {"a tile of 58 without its causal mask", &tiled<Forgets::kFuture58>(), "causal"},
    {"a tile without its causal mask behind a memory", &tiled<Forgets::kFutureCarried>(), "causal"},
};

}  // namespace

TEST_CASE("an attention by tiles passes, and a fault in a tile is reported with its place", "[conformance][tiles]") {
  tests::Record record;
  CHECK(record.suite(tiled<Forgets::kNothing>(), {"causal", "padding", "state", "state padding"}).empty());
  tests::check_mentions(tests::found(tiled<Forgets::kFutureCarried>(), "causal"),
                        "after a segment, 1100 tokens, other tokens from 10");
}
