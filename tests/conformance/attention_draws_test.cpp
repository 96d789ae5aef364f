// Faults in the draws of dropout: too many or too few dropped weights, and draws that depend on each other.
#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Draw {
  kRight,
  kOneHead,   // right, with one head
  kAverage,   // right, with equal weights
  kSwapped,   // keeps weights with probability p instead of 1 - p
  kHalf,      // drops weights with probability p / 2
  kRows,      // drops all weights of a query together
  kChannels,  // drops channels of the output instead of weights
  kItems,     // draws once for all items
  kHeads,     // draws once for all heads
  kKeys,      // draws once for all queries: drops whole keys
  kTiled,     // repeats the same draws every 128 queries
  kShort,     // drops no weight from query 128 on
  kCausal,    // draws once for all items, only if causal
};

class Drawn : public HeadwiseAttention {
 public:
  Drawn(const AttentionContext& context, Draw fault)
      : HeadwiseAttention(context, fault == Draw::kOneHead ? 1 : 2), fault_(fault) {}

 private:
  bool is(Draw other) const { return fault_ == other; }

  /// Returns 0 or 1 / (1 - p), to be broadcast over the weights.
  Tensor factors(std::int64_t batch, std::int64_t n, std::int64_t keys, const HeadInput& input) const {
    const auto p = dropout();
    const auto drawn = [&](IntArrayRef sizes, double kept) {
      return empty(sizes, input.v.options()).bernoulli_(kept, input.generator) / kept;
    };
    switch (fault_) {
      case Draw::kSwapped:
        return drawn({batch, heads(), n, keys}, p);
      case Draw::kHalf:
        return drawn({batch, heads(), n, keys}, 1 - p / 2);
      case Draw::kRows:
        return drawn({batch, heads(), n, 1}, 1 - p);
      case Draw::kItems:
        return drawn({1, heads(), n, keys}, 1 - p);
      case Draw::kHeads:
        return drawn({batch, 1, n, keys}, 1 - p);
      case Draw::kKeys:
        return drawn({batch, heads(), 1, keys}, 1 - p);
      case Draw::kTiled:
        return drawn({batch, heads(), 128, keys}, 1 - p).index_select(2, arange(n).remainder(128));
      case Draw::kShort:
        return drawn({batch, heads(), n, keys}, 1 - p).masked_fill(arange(n).ge(128).unsqueeze(1), 1);
      case Draw::kCausal:
        return drawn({causal() ? 1 : batch, heads(), n, keys}, 1 - p);
      default:
        return drawn({batch, heads(), n, keys}, 1 - p);
    }
  }

  HeadOutput attend(const HeadInput& input) override {
    const auto n = input.q.size(2), keys = input.k.size(2);
    auto scores = input.q.matmul(input.k.transpose(-1, -2)) * (is(Draw::kAverage) ? 0.0 : 0.3);
    if (input.mask.defined()) scores = scores.masked_fill(input.mask.logical_not().unsqueeze(1).unsqueeze(1), -1e30);
    if (causal()) scores = scores.masked_fill(ones({n, keys}, TensorOptions(kBool)).triu(1), -1e30);
    auto weights = scores.softmax(-1);
    if (dropout() > 0 && !is(Draw::kChannels)) weights = weights * factors(input.q.size(0), n, keys, input);
    auto values = weights.matmul(input.v);
    if (dropout() > 0 && is(Draw::kChannels)) values = drop(values, dropout(), input.generator);
    return {.values = values};
  }

  Draw fault_;
};

template <Draw fault>
struct Made final : Drawn {
  explicit Made(const AttentionContext& context) : Drawn(context, fault) {}
};

template <Draw fault>
const Descriptor& drawn() {
  static const Descriptor made =
      tests::attention_of<Made<fault>>({.id = "drawn",
                                        .version = "1.0.0",
                                        .summary = "softmax attention whose weights are dropped",
                                        .capabilities = {.causal = true, .key_padding = true, .weight_dropout = true}});
  return made;
}

const tests::AddVariants added = {
    {"weights kept with p", &drawn<Draw::kSwapped>(), "dropout draws"},
    {"half as many weights dropped", &drawn<Draw::kHalf>(), "dropout draws"},
    {"whole rows dropped", &drawn<Draw::kRows>(), "dropout draws"},
    {"channels dropped", &drawn<Draw::kChannels>(), "dropout draws"},
    {"the same weights of all items dropped", &drawn<Draw::kItems>(), "dropout draws"},
    {"the same weights of all items dropped, if causal", &drawn<Draw::kCausal>(), "dropout draws"},
    {"the same weights of all heads dropped", &drawn<Draw::kHeads>(), "dropout draws"},
    {"whole keys dropped", &drawn<Draw::kKeys>(), "dropout draws"},
    {"draws that come again after 128 queries", &drawn<Draw::kTiled>(), "dropout draws"},
    {"nothing dropped behind 128 queries", &drawn<Draw::kShort>(), "dropout draws"},
};

/// Wraps an attention with dropout and passes its output through a function, so that weights cannot be read.
template <Draw fault>
class Hidden final : public Attention {
 public:
  explicit Hidden(const AttentionContext& context) : inner_(register_module("inner", std::make_shared<Made<fault>>(context))) {}

 private:
  AttentionOutput do_forward(const AttentionInput& input) override {
    auto result = inner_->forward(input);
    result.output = result.output.tanh() + 0.5;
    return result;
  }
  std::shared_ptr<Attention> inner_;
};

template <Draw fault>
const Descriptor& hidden() {
  static const Descriptor made = tests::attention_of<Hidden<fault>>(
      {.id = "hidden", .version = "1.0.0", .summary = "of a test", .capabilities = {.weight_dropout = true}});
  return made;
}

}  // namespace

TEST_CASE("weights that are dropped one by one pass", "[conformance]") {
  tests::Record record;
  for (const auto* right :
       {&drawn<Draw::kRight>(), &drawn<Draw::kOneHead>(), &drawn<Draw::kAverage>(), &hidden<Draw::kRight>()})
    CHECK(record.suite(*right, {"dropout draws"}).empty());
  CHECK(record.ran.count("dropout draws") == 1);
}

TEST_CASE("faults in the draws are reported in words", "[conformance]") {
  const auto says = [](const Descriptor& plugin, const char* words) {
    tests::check_mentions(tests::found(plugin, "dropout draws"), words);
  };
  says(drawn<Draw::kSwapped>(), "has a variance of");
  says(drawn<Draw::kHalf>(), "% of the weights");
  says(drawn<Draw::kItems>(), "two items of a batch");
  says(drawn<Draw::kTiled>(), "queries that are");
  says(drawn<Draw::kShort>(), "expected 25 %");
  says(drawn<Draw::kRows>(), "keys of one query");
  says(drawn<Draw::kChannels>(), "channels are dropped instead of weights");
  says(hidden<Draw::kItems>(), "with the same tokens drop the same weights");
}
