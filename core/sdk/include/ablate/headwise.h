// Common case of attentions: queries, keys and values are projected, attended head by head, and projected back.
#pragma once

#include <stdexcept>
#include <string>

#include "ablate/attention.h"
#include "ablate/linear.h"

namespace ablate {

/// Options of a method for the base class.
struct HeadOptions {
  std::int64_t heads = 1;                           ///< must divide the width if d_key or d_value is 0
  std::int64_t d_key = 0, d_value = 0;              ///< channels of a head; 0: width / heads
  bool queries = true, keys = true, values = true;  ///< projections that exist; q, k or v is undefined without its projection
  bool keys_are_queries = false;  ///< keys are the queries, from the same projection (Reformer, Routing Transformer)
  /// Tokens of earlier segments in front of a segment's tokens (Transformer-XL, Dai et al. 2019). They are stored as detached
  /// layer inputs and projected with the current weights. evaluation_memory, if above 0, replaces memory in evaluation.
  std::int64_t memory = 0, evaluation_memory = 0;
  /// Tokens of a short convolution of q, k and v, with SiLU behind it (Mamba, DeltaNet). Each channel is convolved by itself,
  /// and the last weight is for the token itself. The base class keeps the convolution's state. 0: no convolution.
  /// Self-attention only. The constructor throws std::logic_error if there is also a memory, or if keys are queries.
  std::int64_t convolution = 0;
};

/// Input of attend(). Keys and values under the mask are 0. `context` has the memory in front and is 0 under the mask. `mask`
/// covers all keys. `state` is the method's own part of the state.
struct HeadInput : AttentionInput {
  Tensor q;                 ///< [batch, heads, n, d_key]
  Tensor k;                 ///< [batch, heads, keys, d_key]
  Tensor v;                 ///< [batch, heads, keys, d_value]
  std::int64_t offset = 0;  ///< number of keys before query 0: the memory's size; unused keys come first, masked
  bool self = false;        ///< queries and context are one sequence
};

struct HeadOutput {
  Tensor values;  ///< [batch, heads, n, d_value], of the queries' type and device; 0 if there is nothing to attend to
  AttentionState state = {};  ///< state of the method, for the next segment
  Tensor auxiliary_loss = {};
  std::vector<Measurement> metrics = {};
};

/// Owns the projections W^Q, W^K, W^V, W^O (AdaMRA, Eq. 1, 4 and 5), the memory, the convolution, and rotary positions. A
/// derived class implements attend().
class HeadwiseAttention : public Attention {
 public:
  /// Throws std::invalid_argument if heads does not divide the width.
  HeadwiseAttention(const AttentionContext& context, const HeadOptions& options);
  HeadwiseAttention(const AttentionContext& context, std::int64_t heads)
      : HeadwiseAttention(context, HeadOptions{.heads = heads}) {}

 protected:
  std::int64_t heads() const { return options_.heads; }
  std::int64_t d_key() const { return options_.d_key; }      ///< channels of a key
  std::int64_t d_value() const { return options_.d_value; }  ///< channels of a value
  bool fused() const { return fused_; }                      ///< AttentionContext::fused
  /// Channels of a key and of a value. Throws std::logic_error if the two differ.
  std::int64_t d_head() const {
    if (options_.d_key != options_.d_value)
      throw std::logic_error("d_head(): keys have " + std::to_string(options_.d_key) + " channels, values " +
                             std::to_string(options_.d_value));
    return options_.d_value;
  }
  bool causal() const { return causal_; }  ///< query i attends to keys 0 to offset + i
  bool carries() const { return carries_; }
  /// Dropout of attention weights now: 0 in evaluation. For drop() and dropped_attention() (dropout.h).
  double dropout() const { return is_training() ? dropout_ : 0; }

  /// Projects any tokens with the current weights, for example a memory of slots. No convolution and no rotary positions are
  /// applied. The frozen variants pass gradients on to x only, not to the weights.
  /// @param x [batch, n, d_model]
  /// @return [batch, heads, n, d_key or d_value]
  Tensor keys_of(const Tensor& x) const { return project(options_.keys_are_queries ? query_ : key_, x); }
  Tensor values_of(const Tensor& x) const { return project(value_, x); }
  Tensor frozen_queries_of(const Tensor& x) const { return project_frozen(query_, x); }
  Tensor frozen_keys_of(const Tensor& x) const { return project_frozen(options_.keys_are_queries ? query_ : key_, x); }
  Tensor frozen_values_of(const Tensor& x) const { return project_frozen(value_, x); }

 private:
  /// Computes the values of each head. Arguments belong to the caller: never write into them. May throw std::exception.
  virtual HeadOutput attend(const HeadInput& input) = 0;
  /// Computes a whole call as one operation, if the method has an operation for this case. If the result is undefined, attend()
  /// is called instead. Never called with a state, a convolution, a memory or rotary positions.
  /// @param input the host's input, unchanged
  virtual Tensor in_one(const AttentionInput& input, const Projections& by, bool fused) const {
    static_cast<void>(input), static_cast<void>(by), static_cast<void>(fused);
    return {};
  }
  /// Returns the method's own part of initial_state().
  virtual AttentionState heads_state(std::int64_t batch) const {
    static_cast<void>(batch);
    return {};
  }

  /// Input of attend(), and the parts of the next state that belong to the base class.
  struct Prepared {
    HeadInput input;
    bool remembers = false;
    AttentionState convolved;
  };

  AttentionOutput do_forward(const AttentionInput& input) final;
  AttentionState do_initial_state(std::int64_t batch) const final;
  std::vector<std::shared_ptr<Linear>> do_output_projections() const final { return {output_}; }
  Tensor do_weights(const AttentionInput& input) final;
  Prepared prepare(const AttentionInput& given) const;
  std::int64_t memory() const;
  void remember(const HeadInput& input, AttentionState& state) const;
  void convolve(HeadInput& input, AttentionState& state) const;
  Tensor project(const std::shared_ptr<Linear>& projection, const Tensor& x) const;
  Tensor project_frozen(const std::shared_ptr<Linear>& projection, const Tensor& x) const;

  HeadOptions options_;
  std::int64_t d_model_;
  bool causal_, carries_, rotary_, fused_;
  double dropout_;
  std::shared_ptr<Linear> query_, key_, value_, output_;
  Tensor filter_;  ///< [channels of q, k and v, tokens]
};

/// Rotary positions (Su et al. 2021, Eq. 34): channels (i, i + d/2) are turned by position / 10000^(2 i / d). Token j of item b
/// has the position first[b] + shift + j. Angles are computed in float64.
/// @param x [batch, heads, n, d], d even
/// @param first [batch] int64; undefined: 0
/// @return tensor of x's shape and type
Tensor rotate_positions(const Tensor& x, const Tensor& first, std::int64_t shift);

/// Takes `count` consecutive rows of each item, from row first[item] on.
/// @param x [batch, n, channels] or [batch, n]
/// @param first [batch] int64, at most n - count
/// @return [batch, count, channels] or [batch, count]
Tensor rows_from(const Tensor& x, const Tensor& first, std::int64_t count);
/// Returns the last `count` tokens of `before` and x together, for each item by itself, so that padding pushes no token out.
/// @param before [batch, count, channels]
/// @param x [batch, n, channels]
/// @param mask [batch, n] bool, or undefined
/// @return tensor of before's shape
Tensor last_tokens(const Tensor& before, const Tensor& x, const Tensor& mask);

}  // namespace ablate
