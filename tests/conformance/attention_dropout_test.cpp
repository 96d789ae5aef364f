// Dropout of attention weights: its generator, its mode, and its mean.
#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

enum class Drop {
  kRight,
  kNoise,       // right: in training, noise is added to the scores, besides dropout
  kIgnored,     // promised, but nothing is dropped
  kUnscaled,    // the remaining weights are not divided by 1 - p
  kGlobal,      // drawn from torch's global generator
  kEvaluation,  // drops in evaluation, too
  kRedrawn,     // draws again in the backward pass
  kPadding,     // padded keys get weights if weights are dropped
};

class Dropped : public HeadwiseAttention {
 public:
  Dropped(const AttentionContext& context, Drop fault) : HeadwiseAttention(context, 2), fault_(fault), p_(context.dropout) {}

 private:
  bool is(Drop other) const { return fault_ == other; }

  HeadOutput attend(const HeadInput& input) override {
    auto scores = input.q.matmul(input.k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    if (is(Drop::kNoise) && is_training())
      scores = scores + empty(scores.sizes(), scores.options()).normal_(0, 1, input.generator);
    const double p = is(Drop::kIgnored) ? 0 : is(Drop::kEvaluation) ? p_ : dropout();
    if (input.mask.defined() && !(is(Drop::kPadding) && p > 0))
      scores = scores.masked_fill(input.mask.logical_not().unsqueeze(1).unsqueeze(1), -1e30);
    const auto weights = scores.softmax(-1);
    auto kept = drop(weights, p, input.generator);
    if (p > 0) {
      if (is(Drop::kUnscaled)) kept = kept * (1 - p);
      if (is(Drop::kGlobal))
        kept = weights * ones(weights.sizes(), weights.options().requires_grad(false)).bernoulli(1 - p) / (1 - p);
      if (is(Drop::kRedrawn)) {
        const auto other = drop(weights, p, input.generator);
        kept = other + (kept - other).detach();
      }
    }
    return {.values = kept.matmul(input.v)};
  }

  Drop fault_;
  double p_;
};

template <Drop fault>
struct Made final : Dropped {
  explicit Made(const AttentionContext& context) : Dropped(context, fault) {}
};

template <Drop fault>
const Descriptor& dropped() {
  static const Descriptor made =
      tests::attention_of<Made<fault>>({.id = "dropped",
                                        .version = "1.0.0",
                                        .summary = "softmax attention whose weights are dropped",
                                        .capabilities = {.key_padding = true, .weight_dropout = true}});
  return made;
}

const tests::AddVariants added = {
    {"weights that are not dropped", &dropped<Drop::kIgnored>(), "weight dropout"},
    {"weights that are not scaled up", &dropped<Drop::kUnscaled>(), "weight dropout"},
    {"weights dropped by torch's generator", &dropped<Drop::kGlobal>(), "weight dropout"},
    {"weights dropped in evaluation", &dropped<Drop::kEvaluation>(), "weight dropout"},
    {"other weights dropped going backward", &dropped<Drop::kRedrawn>(), "weight dropout"},
    {"padding read if weights are dropped", &dropped<Drop::kPadding>(), "weight dropout"},
};

}  // namespace

TEST_CASE("attention weights that are dropped as promised pass", "[conformance]") {
  tests::Record record;
  CHECK(record.suite(dropped<Drop::kRight>(), {"weight dropout"}).empty());
  CHECK(record.suite(dropped<Drop::kNoise>(), {"weight dropout"}).empty());
  CHECK(record.ran.count("weight dropout") == 1);
}
