// Transformer-XL (Dai et al. 2019): attention over the segment and a memory of earlier segments, with relative positions.
// README.md lists the differences from the paper.
#include "ablate/dropout.h"
#include "ablate/relative.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer(
        "memory", "64", {0, 65536},
        "tokens of earlier segments to attend to, stored as the layer's inputs (pre-norm: normed); 0: none, and no state",
        "tokens"),
    ablate::integer("evaluation_memory", "0", {0, 65536}, "memory in evaluation; 0: as in training", "tokens"),
};

ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto result = declared;
  result.stateful = values.integer("memory") > 0;
  return result;
}

class TransformerXl final : public ablate::RelativeAttention {
 public:
  explicit TransformerXl(const ablate::AttentionContext& context)
      : RelativeAttention(context, options_of(context.parameters)) {}

 private:
  static ablate::HeadOptions options_of(const ablate::Values& values) {
    if (values.integer("memory") == 0 && values.integer("evaluation_memory") > 0)
      throw std::invalid_argument("transformer-xl: evaluation_memory = " + std::to_string(values.integer("evaluation_memory")) +
                                  " with memory = 0; a model that was trained without a memory cannot read one");
    return {.heads = values.integer("heads"),
            .memory = values.integer("memory"),
            .evaluation_memory = values.integer("evaluation_memory")};
  }

  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("transformer-xl: queries and context have to be one sequence");
    const auto weights = ablate::drop(relative_weights(input.q, input.k, input.mask), dropout(), input.generator);
    return {.values = weights.matmul(ablate::widened(input.v)).to(input.q.scalar_type())};
  }
};

}  // namespace

ABLATE_ATTENTION(TransformerXl, {.id = "transformer-xl",
                                 .version = "1.0.0",
                                 .summary = "attention with relative positions and a memory of earlier segments",
                                 .paper = "Dai et al. 2019, arXiv 1901.02860, sections 3.2 and 3.3",
                                 .capabilities = {.causal = true,
                                                  .key_padding = true,
                                                  .stateful = true,
                                                  .bidirectional = false,
                                                  .weight_dropout = true,
                                                  .averages = true,
                                                  .half_precision = true,
                                                  .time_exponent = 2,
                                                  .memory_exponent = 2},
                                 .parameters = parameters,
                                 .promises = promises})
