// Attention over one compressed memory: every query reads at the same resolution. AdaMRA has several resolutions instead.
#include "ablate/headwise.h"

namespace {

constexpr ablate::Exemption exemptions[] = {
    {"reach", "causal", "a causal read sees only complete slots", 1},
};
constexpr ablate::Oracle oracles[] = {
    {R"({"compression": {"plugin": "segment-mean"}, "rate": "1"})", "softmax"},
};

using ablate::Capabilities;
using ablate::HeadInput;
using ablate::HeadOutput;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::when("slots = 0", ablate::rate("rate", "\"1/4\"", "slots of the memory per token, rounded up")),
    ablate::integer("slots", "0", {0, 65536}, "fixed number of slots; 0: follows the rate", "slots"),
    ablate::text(
        "read", "\"softmax\"", ablate::kSimilarityChoices,
        "similarity of a query and a slot's key; leave it out if the memory has its own kernel (rbf, random-features)"),
    ablate::plugin("compression", "compression", "writes and reads the memory"),
};

/// Declares the cost exponents of a softmax read. Kernel reads have the same promise, although their exponents are 1.
Capabilities promises(const Capabilities& declared, const ablate::Values& values, std::span<const Capabilities> parts) {
  auto can = declared;
  const auto& memory = parts.front();
  const bool fixed = values.integer("slots") > 0;
  can.causal = memory.causal_reads && !fixed;
  can.averages = memory.averages;
  can.half_precision = memory.half_precision;
  can.cuda = memory.cuda;
  can.deterministic = memory.deterministic;
  can.length_multiple = memory.length_multiple;
  if (fixed) can.time_exponent = can.memory_exponent = 1;
  return can;
}

constexpr ablate::Rate kDefaultRate{1, 4};

ablate::Slots slots_of(const ablate::Values& values) {
  const auto fixed = values.integer("slots");
  return {fixed > 0 ? kDefaultRate : values.rate("rate"), fixed};
}

class CompressedAttention final : public ablate::HeadwiseAttention {
 public:
  explicit CompressedAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        similarity_(ablate::kSimilarityChoices.of(context.parameters, "read")) {
    const auto slots = slots_of(context.parameters);
    compression_ = register_module("compression", context.parts.compression("compression", slots, heads(), d_head()));
    ablate::refuse_idle_similarity(*compression_, "read", similarity_, ablate::Similarity::kSoftmax);
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    const auto memory = compression_->write({.keys = input.k,
                                             .values = input.v,
                                             .mask = input.mask,
                                             .queries = input.q,
                                             .query_mask = input.query_mask,
                                             .generator = input.generator});
    auto read = compression_->read(
        {.queries = input.q, .memory = memory, .similarity = similarity_, .causal = causal(), .fused = fused()});
    return {.values = std::move(read.values), .auxiliary_loss = std::move(read.auxiliary_loss)};
  }

  void do_step(std::int64_t step, const ablate::Generator& generator) override { compression_->on_step(step, generator); }

  ablate::Similarity similarity_;
  std::shared_ptr<ablate::Compression> compression_;
};

}  // namespace

ABLATE_ATTENTION(CompressedAttention,
                 {.id = "compressed",
                  .version = "1.0.0",
                  .summary = "attention over one memory of ceil(rate n) slots, or of a fixed number, any compression",
                  .paper = "Zhang et al. 2021, AdaMRA, arXiv 2108.04962, section 3.2 at one resolution",
                  .capabilities = {.key_padding = true, .cross_attention = true, .time_exponent = 2, .memory_exponent = 2},
                  .parameters = parameters,
                  .promises = promises,
                  .exemptions = exemptions,
                  .oracles = oracles})
