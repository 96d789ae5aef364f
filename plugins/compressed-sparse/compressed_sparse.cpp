// Compressed sparse attention (DeepSeek-V4, 2026): in one softmax a query reads near tokens, a sink, and either all slots of a
// compressed memory or the slots that an indexer chooses. Any compression that promises beside_tokens can write the memory.
#include <cmath>
#include <limits>

#include "ablate/blocks.h"
#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"

namespace {

using ablate::Capabilities;
using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Memory;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("window", "16", {1, 65536}, "uncompressed tokens that a query reads, up to its own (published: 128)",
                    "tokens"),
    ablate::rate("rate", "\"1/4\"", "slots of the memory per token, rounded up (published: 1/4 with a choice, 1/128 without)"),
    ablate::integer("top", "0", {0, 65536}, "slots that a query reads, the same for all heads; 0: all (HCA)", "slots"),
    ablate::boolean("sink", "false", "a learned score per head that takes part of the weights and adds no value"),
    ablate::plugin("compression", "compression", "writes the memory; must promise beside_tokens"),
};

Capabilities promises(const Capabilities& declared, const ablate::Values& values, std::span<const Capabilities> parts) {
  auto can = declared;
  const auto& memory = parts.front();
  const auto rate = values.rate("rate");
  can.causal = memory.causal_reads;
  can.averages = memory.averages && !values.boolean("sink");
  // If the window covers a whole segment, no token is skipped: each token is read through a complete slot or the window.
  can.sparse = values.integer("top") > 0 || values.integer("window") * rate.numerator < rate.denominator;
  can.weight_dropout = memory.averages;  // a slot that is a mean passes its weight on to its tokens
  can.half_precision = memory.half_precision;
  can.cuda = memory.cuda;
  can.deterministic = memory.deterministic;
  can.length_multiple = memory.length_multiple;
  return can;
}

class CompressedSparse final : public ablate::HeadwiseAttention {
 public:
  explicit CompressedSparse(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        window_(context.parameters.integer("window")),
        top_(context.parameters.integer("top")) {
    if (!context.parts.promises("compression").beside_tokens)
      throw std::invalid_argument(
          "compression: its slots cannot be in one softmax with tokens; choose one that promises beside_tokens");
    compression_ = register_module(
        "compression", context.parts.compression("compression", {.rate = context.parameters.rate("rate")}, heads(), d_head()));
    if (context.parameters.boolean("sink")) sink_ = register_parameter("sink", ablate::zeros({heads()}), {.decay = false});
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("compressed-sparse: queries and context have to be one sequence");
    const auto memory = compression_->write({.keys = input.k,
                                             .values = input.v,
                                             .mask = input.mask,
                                             .queries = input.q,
                                             .query_mask = input.query_mask,
                                             .generator = input.generator});
    const auto n = input.q.size(2), slots = memory.keys.size(2);
    const auto size = std::clamp<std::int64_t>(window_, 1, std::max<std::int64_t>(1, n));
    const ablate::Neighbours blocks{.size = size, .behind = causal() ? 0 : 1};
    const auto q = ablate::widened(input.q) / std::sqrt(static_cast<double>(d_head()));

    auto near = blocks.joined(blocks.queries(q).matmul(blocks.keys(ablate::widened(input.k)).transpose(-1, -2)), n);
    auto far = q.matmul(ablate::widened(memory.keys).transpose(-1, -2));  // [batch, heads, n, slots]
    auto near_hidden = blocks.joined(outside(blocks, input), n);
    auto far_hidden = unread(memory, n);
    if (top_ > 0 && top_ < slots) far_hidden = far_hidden.logical_or(not_chosen(far, far_hidden));
    // mass exp(s) = exp(s + log mass): a slot has the weight of `mass` equal tokens.
    far = far + ablate::widened(memory.mass).clamp_min(std::numeric_limits<float>::min()).log().unsqueeze(2);

    const auto like = [&](const Tensor& hidden, const Tensor& scores) { return hidden.expand_as(scores); };
    std::vector<Tensor> scores = {near, far}, hidden = {like(near_hidden, near), like(far_hidden, far)};
    if (sink_.defined()) {
      scores.push_back(sink_.to(q.scalar_type()).view({1, heads(), 1, 1}).expand({q.size(0), -1, n, 1}));
      hidden.push_back(ablate::zeros({1, 1, 1, 1}, near_hidden.options()).expand_as(scores.back()));
    }
    const auto all = ablate::masked_softmax(ablate::cat(scores, 3), ablate::cat(hidden, 3));
    const auto weights = ablate::drop(all, dropout(), input.generator);
    const auto of_near = blocks.queries(weights.narrow(3, 0, near.size(3)));
    const auto values = blocks.joined(of_near.matmul(blocks.keys(ablate::widened(input.v))), n) +
                        weights.narrow(3, near.size(3), slots).matmul(ablate::widened(memory.values));
    return {.values = values.to(input.q.scalar_type())};
  }

  /// True for padding and for tokens outside the window: bool, [batch or 1, 1, blocks, size, keys of a block].
  Tensor outside(const ablate::Neighbours& blocks, const HeadInput& input) const {
    const auto behind = blocks.distance(input.k.device());
    const auto within = causal() ? (behind > -window_).logical_and(behind <= 0) : behind.abs() < window_;
    return blocks.present(ablate::mask_or_all(input.mask, input.k.size(2), input.k)).logical_and(within).logical_not();
  }

  /// True for slots without mass and, if causal, for slots that end after the query's position.
  /// @return bool, [batch or 1, heads or 1, n or 1, slots]
  Tensor unread(const Memory& memory, std::int64_t n) const {
    const auto empty = (memory.mass <= 0).unsqueeze(2);
    if (!causal()) return empty;
    const auto position = ablate::arange(n, memory.last.options());
    return empty.logical_or(memory.last.unsqueeze(0) > position.unsqueeze(1));
  }

  /// True for all slots except the `top` slots with the largest sum over heads of ReLU(q k). On a tie, the latest is chosen.
  /// @param far [batch, heads, n, slots]
  /// @return bool, [batch, 1, n, slots]
  Tensor not_chosen(const Tensor& far, const Tensor& hidden) const {
    const ablate::NoGradGuard none;
    const auto gone = hidden.expand_as(far).all(1, true);
    return ablate::largest(far.relu().sum(1, true).masked_fill(gone, -1), top_).logical_not();
  }

  void do_step(std::int64_t step, const ablate::Generator& generator) override { compression_->on_step(step, generator); }

  std::int64_t window_, top_;
  std::shared_ptr<ablate::Compression> compression_;
  Tensor sink_;  ///< [heads], or undefined
};

}  // namespace

ABLATE_ATTENTION(CompressedSparse,
                 {.id = "compressed-sparse",
                  .version = "1.0.0",
                  .summary = "tokens near a query and slots of any compression, all or chosen ones, in one softmax",
                  .paper = "DeepSeek-V4, 2026, Towards Highly Efficient Million-Token Context Intelligence, 2.3 (CSA, HCA)",
                  .capabilities = {.key_padding = true, .weight_dropout = true, .time_exponent = 2, .memory_exponent = 2},
                  .parameters = parameters,
                  .promises = promises})
