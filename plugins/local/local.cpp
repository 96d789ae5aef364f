// Local attention: the sequence is cut into blocks of `window` tokens. A block attends to itself and its neighbours; if causal,
// to itself and the block before. Each token is scored against 2 or 3 blocks, so no [n, n] matrix is made.
#include "ablate/blocks.h"
#include "ablate/headwise.h"

namespace {

constexpr ablate::Oracle oracles[] = {{R"({"window": 4096})", "softmax"}};

using ablate::HeadInput;
using ablate::HeadOutput;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("window", "64", {1, 65536}, "tokens of a block", "tokens"),
};

class LocalAttention final : public ablate::HeadwiseAttention {
 public:
  // The last block of earlier segments stays in memory. If segments are whole blocks, the result is the same as for the whole
  // sequence in one piece.
  explicit LocalAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context,
                          {.heads = context.parameters.integer("heads"), .memory = context.parameters.integer("window")}),
        window_(context.parameters.integer("window")) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("local: queries and context have to be one sequence");
    // Without a memory, a block is at most as long as the sequence.
    const auto n = input.q.size(2), window = input.offset > 0 ? window_ : std::min(window_, n);
    const ablate::Neighbours blocks{.size = window, .behind = causal() ? 0 : 1, .offset = input.offset};
    auto seen = blocks.present(ablate::mask_or_all(input.mask, input.k.size(2), input.k));
    if (causal()) seen = seen.logical_and(blocks.distance(input.k.device()) <= 0);
    const auto values = ablate::attend_blocks(blocks.queries(input.q), blocks.keys(input.k), blocks.keys(input.v), seen,
                                              dropout(), input.generator);
    return {.values = blocks.joined(values, n)};
  }

  std::int64_t window_;
};

}  // namespace

ABLATE_ATTENTION(LocalAttention, {.id = "local",
                                  .version = "1.0.0",
                                  .summary = "softmax attention within blocks and to their neighbours, in linear time",
                                  .paper = "Parmar et al. 2018, arXiv 1802.05751, 1D local attention",
                                  .capabilities = {.causal = true,
                                                   .key_padding = true,
                                                   .stateful = true,
                                                   .rotary = true,
                                                   .weight_dropout = true,
                                                   .averages = true,
                                                   .sparse = true,
                                                   .half_precision = true},
                                  .parameters = parameters,
                                  .oracles = oracles})
