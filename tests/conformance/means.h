// A right compression: means of segments, or of tokens dealt to fixed slots. Tests make wrong compressions from it.
#pragma once

#include <limits>

#include "ablate/compression.h"
#include "ablate/padding.h"
#include "tests/conformance/suite_of.h"

namespace ablate::tests {

/// Assigns tokens to slots by a membership matrix. Narrow types are summed in float32. Tests override single functions.
class Means : public Compression {
 public:
  explicit Means(const CompressionContext& context) : Compression(context), heads_(context.heads), d_head_(context.d_head) {}

 protected:
  /// Returns each token's slot, [batch, n] int64; -1 for no slot.
  /// @param first [batch]: number of tokens written before
  virtual Tensor slots_of(const WriteInput& input, const Tensor& first) const {
    const auto n = input.keys.size(2);
    const auto position = arange(n).unsqueeze(0) + first.unsqueeze(1);
    const auto& rate = slots().rate;
    const auto slot =
        slots().fixed > 0 ? position.remainder(slots().fixed) : (position * rate.numerator).floor_divide(rate.denominator);
    return input.mask.defined() ? slot.masked_fill(input.mask.logical_not(), -1) : slot;
  }
  /// Returns the tokens that slots average: keys or values.
  virtual Tensor tokens_of(const Tensor& x, const WriteInput& input) { return clear_padding(x, input.mask); }

  Memory do_write(const WriteInput& input) override {
    const auto n = input.keys.size(2), count = slots().of(n), batch = input.keys.size(0);
    const auto type = input.keys.scalar_type();
    const auto wide = c10::isReducedFloatingType(type) ? kFloat : type;
    const auto first = input.held != nullptr ? input.held->mass.sum(-1).select(1, 0).round().to(kLong) : zeros({batch}, kLong);
    const auto member = (slots_of(input, first).unsqueeze(1) == arange(count).unsqueeze(1)).to(wide).unsqueeze(1);
    const auto counts = member.sum(-1);  // [batch, 1, slots]
    const auto mean = [&](const Tensor& x) {
      return (member.matmul(tokens_of(x, input).to(wide)) / counts.clamp_min(1).unsqueeze(-1)).to(type);
    };
    Memory memory;
    memory.keys = mean(input.keys);
    memory.values = mean(input.values);
    memory.mass = counts.to(type);
    memory.slots = existing_slots(slots(), input.mask);
    memory.last = last(count);
    if (input.held != nullptr) extend(memory, *input.held);
    return memory;
  }

  /// Returns each slot's last token: [slots] int64.
  virtual Tensor last(std::int64_t count) const {
    if (slots().fixed > 0) return full({count}, std::numeric_limits<std::int64_t>::max(), kLong);
    const auto& rate = slots().rate;
    return ((arange(count) + 1) * rate.denominator + (rate.numerator - 1)).floor_divide(rate.numerator) - 1;
  }

  virtual void extend(Memory& memory, const Memory& held) {
    const auto both = memory.mass + held.mass;
    const auto share = (held.mass / both.clamp_min(1)).unsqueeze(-1);
    memory.keys = memory.keys + (held.keys - memory.keys) * share;
    memory.values = memory.values + (held.values - memory.values) * share;
    memory.mass = both;
  }

  ReadOutput do_read(const ReadInput& input) override {
    const auto& memory = input.memory;
    const auto type = input.queries.scalar_type();
    const auto wide = c10::isReducedFloatingType(type) ? kFloat : type;
    const auto q = input.queries.to(wide), k = memory.keys.to(wide), v = memory.values.to(wide);
    const auto mass = memory.mass.to(wide).unsqueeze(-2);
    auto hidden = mass <= 0;
    if (input.causal) {
      const auto position = arange(q.size(2)) + input.offset;
      hidden = hidden.logical_or(memory.last.unsqueeze(0) > position.unsqueeze(1));
    }
    const auto map = [&](const Tensor& x) { return input.similarity == Similarity::kRelu ? x.relu() : elu(x) + 1; };
    Tensor weights;
    if (input.similarity == Similarity::kSoftmax) {
      const auto scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(3)));
      weights = (scores - scores.masked_fill(hidden, -1e30).amax(-1, true).detach()).masked_fill(hidden, 0).exp();
    } else {
      weights = map(q).matmul(map(k).transpose(-1, -2));
    }
    weights = (weights * mass).masked_fill(hidden, 0);
    const auto sum = weights.sum(-1, true);
    return {.values = (weights.matmul(v) / sum.masked_fill(sum <= 0, 1)).to(type)};
  }

  std::int64_t heads_, d_head_;
};

/// Applies a fault to a right memory.
template <class Change>
class Changed final : public Means {
 public:
  explicit Changed(const CompressionContext& context) : Means(context), change_(context) {
    change_.made([&](const char* name, const Tensor& tensor) { return register_buffer(name, tensor); }, context);
  }

 private:
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    change_.write(memory, input, is_training());
    return memory;
  }
  void do_step(std::int64_t step, const Generator& generator) override {
    const NoGradGuard none;
    change_.step(step, generator);
  }
  Change change_;
};
struct Change {
  explicit Change(const CompressionContext&) {}
  template <class Register>
  void made(const Register&, const CompressionContext&) {}
  void write(Memory&, const WriteInput&, bool) {}
  void step(std::int64_t, const Generator&) {}
};

inline constexpr Capabilities kMeans = {.slots_have_keys = true,
                                        .averages = true,
                                        .lossless_at_rate_1 = true,
                                        .causal_reads = true,
                                        .fixed_slots = true,
                                        .extends = true,
                                        .half_precision = true};

/// Returns the descriptor of a class. The descriptor lives as long as the process.
template <class Made>
const Descriptor* variant(const Capabilities& promises = kMeans, std::span<const Parameter> parameters = {}) {
  static const auto descriptor = compression_of<Made>({.id = "means",
                                                       .version = "1.0.0",
                                                       .summary = "segment means, or not quite",
                                                       .capabilities = promises,
                                                       .parameters = parameters});
  return &descriptor;
}

}  // namespace ablate::tests
