// Recurrent attentions: causal, with a state in place of keys and values, with a norm and a gate for each head.
#pragma once

#include <cmath>

#include "ablate/gated_norm.h"
#include "ablate/headwise.h"

namespace ablate {

struct RecurrentOptions {
  std::int64_t heads = 1;
  double key_width = 1, value_width = 1;  ///< channels of all heads' keys and values, as shares of the attention's width
  std::int64_t convolution = 0;           ///< HeadOptions::convolution
  HeadNorm norm = HeadNorm::kNone;
  bool gate = false;        ///< values are multiplied by SiLU(x W + b), with x the layer's input
  std::int64_t writes = 1;  ///< number of keys and values of each token
};

/// Reads the parameters "heads", "value_width", "convolution", "norm" and "gate".
/// @param norm norm to use if "norm" is true
inline RecurrentOptions recurrent_options(const Values& values, HeadNorm norm, double key_width = 1) {
  return {.heads = values.integer("heads"),
          .key_width = key_width,
          .value_width = values.real("value_width"),
          .convolution = values.integer("convolution"),
          .norm = values.boolean("norm") ? norm : HeadNorm::kNone,
          .gate = values.boolean("gate")};
}

/// Input of recur(), in float32 at least.
struct Recurrence {
  Tensor q;      ///< [batch, heads, n, d_key]
  Tensor k;      ///< [batch, heads, n writes, d_key], keys of a token side by side, 0 under the mask
  Tensor v;      ///< [batch, heads, n writes, d_value], in the same order
  Tensor state;  ///< [batch, heads, d_key, d_value], or undefined: 0
};

/// q / sqrt(d_key)
inline Tensor scaled(const Tensor& q) { return q / std::sqrt(static_cast<double>(q.size(-1))); }

struct Recurred {
  Tensor values;  ///< [batch, heads, n, d_value]
  Tensor state;   ///< state after the last token, in the form of Recurrence::state
};

/// Descriptor::promises of recurrent attentions that have a parameter "norm", and declare causal, key_padding, stateful and
/// recurrent, but not bidirectional. Half precision needs the norm: sums of products of three numbers exceed float16's range.
inline Capabilities recurrent_promises(const Capabilities& declared, const Values& values, std::span<const Capabilities>) {
  auto can = declared;
  can.half_precision = values.boolean("norm");
  return can;
}

/// Base of causal attentions whose state is one matrix [d_key, d_value] a head. Derived classes need only implement recur().
class RecurrentAttention : public HeadwiseAttention {
 public:
  /// Throws std::invalid_argument if a width is not a whole number of channels for each head, or if the norm has one channel.
  RecurrentAttention(const AttentionContext& context, const RecurrentOptions& options);

 private:
  /// May throw.
  /// @param input contains the mask (padding neither decays nor changes the state), the layer's input and positions
  virtual Recurred recur(const Recurrence& of, const HeadInput& input) = 0;

  HeadOutput attend(const HeadInput& input) final;
  AttentionState heads_state(std::int64_t batch) const final;
  Recurrence written(const HeadInput& input, AttentionState& state) const;

  HeadNorm norm_;
  std::int64_t writes_;
  std::shared_ptr<Linear> gate_, further_;  ///< further_: keys and values of all writes except the first
  Tensor further_filter_;                   ///< short convolution of these keys and values: [channels, tokens]
};

}  // namespace ablate
