// The common case: queries, keys and values projected, attended head by head, projected back.
#pragma once

#include <stdexcept>
#include <string>

#include "ablate/attention.h"
#include "ablate/linear.h"

namespace ablate {

/// What a method wants of the base class.
struct HeadOptions {
  std::int64_t heads = 1;                           ///< must divide the width where d_key or d_value is 0
  std::int64_t d_key = 0, d_value = 0;              ///< channels of a head; 0: width / heads
  bool queries = true, keys = true, values = true;  ///< projections there are; without one its tensor is undefined
  bool keys_are_queries = false;  ///< keys are the queries, of the same projection (Reformer, Routing Transformer)
  /// Tokens of earlier segments that stand before a segment's own, as detached layer inputs projected with today's weights
  /// (Transformer-XL, Dai et al. 2019); in training, and in evaluation where it is to be another number.
  std::int64_t memory = 0, evaluation_memory = 0;
};

/// What attend() gets. Keys and values under the mask are 0.
struct HeadInput : AttentionInput {  ///< context: with the memory in front, 0 under the mask; mask: of all keys; state: the
                                     ///< method's own, after the base class has taken its memory off
  Tensor q;                          ///< [batch, heads, n, d_key]
  Tensor k;                          ///< [batch, heads, keys, d_key]
  Tensor v;                          ///< [batch, heads, keys, d_value]
  std::int64_t offset = 0;           ///< keys before query 0: the memory, aligned at its end, masked where it is not full
  bool self = false;                 ///< queries and context are one sequence
};

struct HeadOutput {
  Tensor values;  ///< [batch, heads, n, d_value], of the queries' type and device; 0 where there is nothing to attend to
  AttentionState state = {};  ///< the method's own, for the next segment
  Tensor auxiliary_loss = {};
  std::vector<Measurement> metrics = {};
};

/// Owns the projections W^Q, W^K, W^V, W^O (AdaMRA, Eq. 1, 4 and 5), the memory, and rotary positions; a method is one
/// function, attend.
class HeadwiseAttention : public Attention {
 public:
  /// Throws std::invalid_argument where heads does not divide the width.
  HeadwiseAttention(const AttentionContext& context, const HeadOptions& options);
  HeadwiseAttention(const AttentionContext& context, std::int64_t heads)
      : HeadwiseAttention(context, HeadOptions{.heads = heads}) {}

 protected:
  std::int64_t heads() const { return options_.heads; }
  /// Channels of a key and of a value. Throws std::logic_error where the options have two numbers.
  std::int64_t d_head() const {
    if (options_.d_key != options_.d_value)
      throw std::logic_error("d_head(): keys have " + std::to_string(options_.d_key) + " channels, values " +
                             std::to_string(options_.d_value));
    return options_.d_value;
  }
  bool causal() const { return causal_; }  ///< query i attends to keys 0 to offset + i
  bool carries() const { return carries_; }

 private:
  /// The arguments belong to the caller: never write into them. May throw std::exception.
  virtual HeadOutput attend(const HeadInput& input) = 0;
  /// The method's own part of initial_state().
  virtual AttentionState heads_state(std::int64_t batch) const {
    static_cast<void>(batch);
    return {};
  }

  AttentionOutput do_forward(const AttentionInput& input) final;
  AttentionState do_initial_state(std::int64_t batch) const final;
  std::int64_t memory() const;
  void remember(const HeadInput& input, AttentionState& state) const;

  HeadOptions options_;
  std::int64_t d_model_;
  bool causal_, carries_, rotary_;
  std::shared_ptr<Linear> query_, key_, value_, output_;
};

/// Rotary positions (Su et al. 2021, Eq. 34): channels (i, i + d/2) turned by position / 10000^(2 i / d), where token j of item
/// b has the position first[b] + shift + j. Angles are formed in float64.
/// @param x [batch, heads, n, d], d even @param first [batch] int64; undefined: 0 @return of x's shape and type
Tensor rotate_positions(const Tensor& x, const Tensor& first, std::int64_t shift);

}  // namespace ablate
