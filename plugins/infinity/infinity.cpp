// infinity-former (Martins et al. 2021): attention over a segment and a short memory, plus continuous attention to a signal
// that represents all earlier tokens. A compression extends the signal, but its size and cost do not grow.
#include <stdexcept>

#include "ablate/dropout.h"
#include "ablate/leaving.h"
#include "ablate/relative.h"

namespace {

using ablate::AttentionState;
using ablate::Capabilities;
using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("memory", "16", {0, 65536},
                    "short-term memory: tokens of earlier segments, stored as the layer's inputs (published: 1024); 0: none",
                    "tokens"),
    ablate::integer("slots", "32", {1, 4096}, "basis functions of the long-term memory, N (published: 512)", "slots"),
    ablate::boolean("sticky", "true",
                    "samples the old signal more densely at places with more attention from recent queries; otherwise evenly"),
    ablate::plugin("compression", "compression",
                   "the long-term memory: rbf, or another with keys that extends a fixed number of slots"),
};

Capabilities promises(const Capabilities& declared, const ablate::Values&, std::span<const Capabilities> parts) {
  auto can = declared;
  can.half_precision = parts.front().half_precision;
  can.cuda = parts.front().cuda;
  can.deterministic = parts.front().deterministic;
  return can;
}

class Infinity final : public ablate::RelativeAttention {
 public:
  explicit Infinity(const ablate::AttentionContext& context)
      : RelativeAttention(context,
                          {.heads = context.parameters.integer("heads"), .memory = context.parameters.integer("memory")}),
        d_model_(context.d_model),
        slots_(context.parameters.integer("slots")),
        is_sticky_(context.parameters.boolean("sticky")) {
    const auto can = context.parts.promises("compression");
    if (!can.extends || !can.fixed_slots || !can.slots_have_keys)
      throw std::invalid_argument(
          "compression: the long-term memory is extended and then projected per head; choose one that promises extends, "
          "fixed_slots and slots_have_keys (rbf)");
    // Without a carried state these parameters would be unused.
    if (!carries()) return;
    // These projections have no biases, so that absent tokens read 0.
    long_key_ = register_module("long_key", ablate::make_linear(d_model_, heads() * d_head(), false, context.generator));
    long_value_ = register_module("long_value", ablate::make_linear(d_model_, heads() * d_head(), false, context.generator));
    compression_ = register_module("compression", context.parts.compression("compression", {.fixed = slots_}, 1, d_model_));
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("infinity: queries and context have to be one sequence");
    const auto weights = ablate::drop(relative_weights(input.q, input.k, input.mask), dropout(), input.generator);
    auto values = weights.matmul(ablate::widened(input.v));
    const auto type = input.q.scalar_type();
    if (input.state.empty()) return {.values = values.to(type)};
    const auto& signal = input.state.front();
    const ablate::Memory by_head{.keys = project(*long_key_, signal), .values = project(*long_value_, signal)};
    auto read = compression_->read({.queries = ablate::widened(input.q),
                                    .memory = by_head,
                                    .looks = true,
                                    .query_mask = input.query_mask,
                                    .fused = fused()});
    return {.values = (values + read.values).to(type),
            .state = {extended(input, signal, is_sticky_ ? read.usage : Tensor())},
            .auxiliary_loss = std::move(read.auxiliary_loss)};
  }

  /// Projects the signal's coefficients to keys or values: [batch, heads, slots, d_head], float32 or wider.
  Tensor project(const ablate::Linear& projection, const Tensor& signal) const {
    return ablate::split_heads(ablate::linear(signal, ablate::widened(projection.weight)), heads());
  }

  /// Extends the signal with the tokens that leave the short-term memory. Gradients reach no earlier segment.
  /// @param usage [batch, heads, places]: attention of this segment's queries; undefined: unknown
  Tensor extended(const HeadInput& input, const Tensor& signal, const Tensor& usage) {
    const ablate::NoGradGuard none;
    const auto mask = input.mask.defined() ? input.mask
                                           : ablate::ones({input.context.size(0), input.context.size(1)},
                                                          input.context.options().dtype(ablate::kBool));
    const ablate::Leaving leaving(mask, input.offset);
    const auto tokens = ablate::widened(leaving.of(input.context)).unsqueeze(1);
    ablate::Memory old{.keys = signal.unsqueeze(1), .values = signal.unsqueeze(1)};
    if (usage.defined()) old.usage = usage.sum(1, true);
    const auto written = compression_->write(
        {.keys = tokens, .values = tokens, .mask = leaving.there, .held = &old, .generator = input.generator});
    return written.values.squeeze(1);
  }

  AttentionState heads_state(std::int64_t batch) const override {
    return {ablate::zeros({batch, slots_, d_model_}, ablate::wide_options(long_key_->weight))};
  }

  void do_step(std::int64_t step, const ablate::Generator& generator) override {
    if (compression_) compression_->on_step(step, generator);
  }

  std::int64_t d_model_, slots_;
  bool is_sticky_;
  std::shared_ptr<ablate::Linear> long_key_, long_value_;
  std::shared_ptr<ablate::Compression> compression_;  ///< compresses layer inputs, one head; null if nothing is carried
};

}  // namespace

ABLATE_ATTENTION(Infinity, {.id = "infinity",
                            .version = "1.0.0",
                            .summary = "attention over a segment, and continuous attention to a signal of all tokens before",
                            .paper = "Martins et al. 2021, infinity-former, arXiv 2109.00301, section 3",
                            .capabilities = {.causal = true,
                                             .key_padding = true,
                                             .stateful = true,
                                             .bidirectional = false,
                                             .weight_dropout = true,
                                             .half_precision = true,
                                             .time_exponent = 2,
                                             .memory_exponent = 2},
                            .parameters = parameters,
                            .promises = promises})
