// The common case: queries, keys and values projected once, attended head by head, projected back.
#pragma once

#include <stdexcept>

#include "ablate/attention.h"
#include "ablate/linear.h"

namespace ablate {

/// Owns the projections W^Q, W^K, W^V, W^O (AdaMRA, Eq. 1, 4 and 5); a method is one function, attend.
class HeadwiseAttention : public Attention {
 public:
  /// @param heads must divide d_model (std::invalid_argument).
  HeadwiseAttention(const AttentionContext& context, std::int64_t heads)
      : heads_(heads), d_head_(context.d_model / heads), causal_(context.causal) {
    if (context.d_model % heads != 0)
      throw std::invalid_argument("heads = " + std::to_string(heads) +
                                  " does not divide d_model = " + std::to_string(context.d_model));
    query_ = register_module("query", make_linear(context.d_model, context.d_model, true, context.generator));
    key_ = register_module("key", make_linear(context.d_model, context.d_model, true, context.generator));
    value_ = register_module("value", make_linear(context.d_model, context.d_model, true, context.generator));
    output_ = register_module("output", make_linear(context.d_model, context.d_model, true, context.generator));
  }

  /// @param queries [batch, heads, n, d_head] @param keys, values [batch, heads, n_context, d_head]
  /// @param mask [batch, n_context] bool, true = a token; undefined: no padding. Keys and values under it are 0.
  /// @return [batch, heads, n, d_head], of the queries' type and device; 0 for a query with nothing to attend to. Where
  /// causal() is true (then n = n_context) query i attends to keys 0 to i. The arguments belong to the caller: never write into
  /// them. May throw std::exception.
  virtual torch::Tensor attend(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& values,
                               const torch::Tensor& mask) = 0;

  /// As Attention::forward, without state, auxiliary loss and metrics: a method that has these overrides it.
  AttentionOutput forward(const AttentionInput& input) override {
    const bool padded = input.mask.defined();
    // Zeroing is no masking (attend still has to leave these keys out); it keeps NaN in padded inputs from reaching a product.
    const auto gone = padded ? input.mask.logical_not().unsqueeze(-1) : torch::Tensor();
    const auto context = padded ? input.context.masked_fill(gone, 0) : input.context;
    const bool self = input.queries.is_same(input.context);
    auto q = split_heads(query_->forward(self ? context : input.queries), heads_);
    auto k = key_->forward(context);
    auto v = value_->forward(context);
    if (padded) {
      k = k.masked_fill(gone, 0);
      v = v.masked_fill(gone, 0);
    }
    AttentionOutput result;
    result.output = output_->forward(merge_heads(attend(q, split_heads(k, heads_), split_heads(v, heads_), input.mask)));
    return result;
  }

 protected:
  std::int64_t heads() const { return heads_; }
  std::int64_t d_head() const { return d_head_; }
  bool causal() const { return causal_; }

 private:
  std::int64_t heads_;
  std::int64_t d_head_;
  bool causal_;
  torch::nn::Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, output_{nullptr};
};

}  // namespace ablate
