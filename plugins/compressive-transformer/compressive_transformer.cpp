// Compressive Transformer (Rae et al. 2020): Transformer-XL that compresses its oldest memory into slots. The slots precede the
// memory in one softmax. The compression learns only from its own loss, the reconstruction of attention.
#include <cmath>
#include <limits>

#include "ablate/dropout.h"
#include "ablate/leaving.h"
#include "ablate/relative.h"
#include "ablate/straight_through.h"

namespace {

using ablate::AttentionState;
using ablate::Capabilities;
using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("memory", "16", {1, 65536}, "tokens of earlier segments, stored as the layer's inputs", "tokens"),
    ablate::integer("compressed_memory", "16", {0, 65536}, "slots before these tokens; 0: none, like transformer-xl", "slots"),
    ablate::rate("rate", "\"1/3\"", "slots per token that leaves the memory, rounded up (published: 1/3)"),
    ablate::real("reconstruction", "1", {0, 1000},
                 "weight of the attention-reconstruction loss; 0: the compression learns nothing"),
    ablate::plugin("compression", "compression", "compresses old memory into slots; must promise beside_tokens"),
};

Capabilities promises(const Capabilities& declared, const ablate::Values&, std::span<const Capabilities> parts) {
  auto can = declared;
  can.averages = parts.front().averages;
  can.half_precision = parts.front().half_precision;
  can.cuda = parts.front().cuda;
  can.deterministic = parts.front().deterministic;
  return can;
}

/// State of the compressed memory. The base class holds the rest of the state, the memory of tokens.
struct Old {
  Tensor slots;    ///< [batch, compressed_memory, d_model], the newest last
  Tensor present;  ///< [batch, compressed_memory] bool: false for the unfilled slots at the front
  Tensor usage;    ///< [batch, memory]: attention that each token in memory received from all queries so far, mean over heads

  explicit Old(const AttentionState& state) : slots(state.at(0)), present(state.at(1)), usage(state.at(2)) {}
};

class CompressiveTransformer final : public ablate::RelativeAttention {
 public:
  explicit CompressiveTransformer(const ablate::AttentionContext& context)
      : RelativeAttention(context,
                          {.heads = context.parameters.integer("heads"), .memory = context.parameters.integer("memory")}),
        d_model_(context.d_model),
        memory_(context.parameters.integer("memory")),
        compressed_(context.parameters.integer("compressed_memory")),
        reconstruction_(context.parameters.real("reconstruction")) {
    if (!context.parts.promises("compression").beside_tokens)
      throw std::invalid_argument(
          "compression: its slots cannot be in one softmax with tokens; choose one that promises beside_tokens");
    if (compressed_ > 0)
      compression_ = register_module(
          "compression", context.parts.compression("compression", {.rate = context.parameters.rate("rate")}, 1, d_model_));
    // Without parameters the compression has nothing to learn, and the loss would be a constant.
    learns_ = reconstruction_ > 0 && compression_ && !compression_->parameters().empty();
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("compressive-transformer: queries and context have to be one sequence");
    if (!compression_ || input.state.empty())
      return {.values = weighted(input, input.k, input.v, input.mask).first, .state = input.state};
    const Old old(input.state);
    const auto clear = [&](const Tensor& x) { return x.masked_fill(old.present.logical_not().unsqueeze(1).unsqueeze(-1), 0); };
    auto [values, weights] =
        weighted(input, ablate::cat({clear(keys_of(old.slots)), input.k}, 2),
                 ablate::cat({clear(values_of(old.slots)), input.v}, 2), ablate::cat({old.present, input.mask}, 1));
    HeadOutput output{.values = std::move(values)};
    output.state = compress(input, old, looks_at(input, weights), output.auxiliary_loss);
    return output;
  }

  /// Returns the values, and the weights before dropout.
  std::pair<Tensor, Tensor> weighted(const HeadInput& input, const Tensor& k, const Tensor& v, const Tensor& mask) const {
    const auto weights = relative_weights(input.q, k, mask);
    const auto dropped = ablate::drop(weights, dropout(), input.generator);
    return {dropped.matmul(ablate::widened(v)).to(input.q.scalar_type()), weights};
  }

  /// Returns the attention that memory and segment receive from this segment's queries: [batch, memory + n].
  Tensor looks_at(const HeadInput& input, const Tensor& weights) const {
    const auto tokens = input.context.size(1);
    auto looks = weights.detach().narrow(3, weights.size(3) - tokens, tokens).mean(1);  // [batch, n, memory + n]
    if (input.query_mask.defined()) looks = looks.masked_fill(input.query_mask.logical_not().unsqueeze(-1), 0);
    return looks.sum(1);
  }

  /// Returns the state after the segment. Tokens that leave the memory become new slots, and the oldest slots are dropped.
  AttentionState compress(const HeadInput& input, const Old& old, const Tensor& looks, Tensor& loss) {
    const auto n = input.q.size(2);
    // The tokens are frozen, so that the compression's loss does not train the layers that made them.
    const auto tokens = ablate::frozen(input.context);
    const auto usage = ablate::pad(old.usage, {0, n}) + looks;
    const ablate::Leaving leaving(input.mask, memory_);
    const auto& leaves = leaving.there;
    const auto gone = leaving.of(tokens);
    const auto written =
        compression_->write({.keys = gone.unsqueeze(1),
                             .values = gone.unsqueeze(1),
                             .mask = leaves,
                             .usage = ablate::rows_from(usage, leaving.oldest, n).unsqueeze(1).to(gone.scalar_type()),
                             .generator = input.generator});
    // [batch, slots]: a slot without mass (a cluster without members) keeps its position, and is masked.
    const auto present = (written.mass > 0).squeeze(1);
    const auto own = written.slots.defined() ? written.slots.squeeze(1) : ablate::ones(present.sizes(), present.options());
    if (is_training() && learns_) loss = reconstruction_loss(input, tokens, gone, leaves, written.values.squeeze(1), present);
    const auto last = [&](const Tensor& old_rows, const Tensor& new_rows, std::int64_t capacity, const Tensor& count) {
      return ablate::rows_from(ablate::cat({old_rows, new_rows}, 1), count, capacity);
    };
    const auto added = own.sum(1);
    return {last(old.slots, written.values.squeeze(1).detach(), compressed_, added),
            last(old.present, present, compressed_, added), ablate::rows_from(usage, leaving.read, memory_)};
  }

  /// The segment's queries attend to the slots and, separately, to the compressed tokens (section 3.2.1, algorithm 2). Returns
  /// the mean square of the difference over items, heads, real queries and channels, times `reconstruction`. No positions are
  /// used. The projections are frozen, so that only the compression learns from the loss.
  Tensor reconstruction_loss(const HeadInput& input, const Tensor& tokens, const Tensor& gone, const Tensor& leaves,
                             const Tensor& slots, const Tensor& present) const {
    const auto q = ablate::widened(frozen_queries_of(tokens.narrow(1, memory_, input.q.size(2))));
    const auto read = [&](const Tensor& x, const Tensor& mask) {
      const auto hidden = mask.logical_not().unsqueeze(1).unsqueeze(1);
      const auto k = ablate::widened(frozen_keys_of(x)), v = ablate::widened(frozen_values_of(x));
      const auto scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(3)));
      return ablate::masked_softmax(scores, hidden).matmul(v);
    };
    const auto off = (read(slots, present) - read(gone, leaves)).square();
    // An item counts only if its memory lost a token.
    const auto counts = leaves.any(1).unsqueeze(1).logical_and(input.mask.narrow(1, memory_, q.size(2)));  // [batch, n]
    const auto rows = counts.sum().clamp_min(1) * (q.size(1) * off.size(3));
    return off.masked_fill(counts.logical_not().unsqueeze(1).unsqueeze(-1), 0).sum() / rows * reconstruction_;
  }

  AttentionState heads_state(std::int64_t batch) const override {
    if (!compression_) return {};
    const auto& like = parameters().front().tensor;
    const auto options = like.options().requires_grad(false);
    return {ablate::zeros({batch, compressed_, d_model_}, options),
            ablate::zeros({batch, compressed_}, options.dtype(ablate::kBool)),
            ablate::zeros({batch, memory_}, ablate::wide_options(like))};
  }

  void do_step(std::int64_t step, const ablate::Generator& generator) override {
    if (compression_) compression_->on_step(step, generator);
  }

  std::int64_t d_model_, memory_, compressed_;
  double reconstruction_;
  bool learns_;
  std::shared_ptr<ablate::Compression> compression_;  ///< compresses layer inputs, one head; null if unused
};

}  // namespace

ABLATE_ATTENTION(CompressiveTransformer,
                 {.id = "compressive-transformer",
                  .version = "1.0.0",
                  .summary = "transformer-xl whose old memory is compressed into slots, any compression beside tokens",
                  .paper = "Rae et al. 2020, Compressive Transformers, arXiv 1911.05507, section 3",
                  .capabilities = {.causal = true,
                                   .key_padding = true,
                                   .stateful = true,
                                   .bidirectional = false,
                                   .weight_dropout = true,
                                   .time_exponent = 2,
                                   .memory_exponent = 2},
                  .parameters = parameters,
                  .promises = promises})
