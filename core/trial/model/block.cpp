#include "core/trial/model/block.h"

#include <ATen/ops/dropout.h>

namespace ablate {

Block::Block(const ModelOptions& options, const Generator& generator)
    : dropout_(options.dropout),
      inner_dropout_(options.inner_dropout),
      norm_first_(options.norm_first),
      activation_(options.activation),
      own_(options.own) {
  norm1_ = register_module("norm1", std::make_shared<LayerNorm>(options.d_model));
  if (options.hidden == 0) return;
  norm2_ = register_module("norm2", std::make_shared<LayerNorm>(options.d_model));
  expand_ = register_module("expand", make_linear(options.d_model, options.hidden, true, generator));
  contract_ = register_module("contract", make_linear(options.hidden, options.d_model, true, generator));
}

Tensor Block::drop(const Tensor& x, double probability) const {
  return is_training() && probability > 0 ? at::dropout(x, probability, true) : x;
}

Tensor Block::feed_forward(const Tensor& x) const {
  const auto inner = expand_->forward(x);
  return contract_->forward(drop(activation_(inner, own_), inner_dropout_));
}

AttentionOutput Block::forward(Tensor& x, Attention& attention, AttentionInput input) const {
  input.queries = input.context = norm_first_ ? norm1_->forward(x) : x;
  auto attended = attention.forward(input);
  x = x + drop(attended.output, dropout_);
  if (!norm_first_) x = norm1_->forward(x);
  if (!expand_) return attended;
  x = x + drop(feed_forward(norm_first_ ? norm2_->forward(x) : x), dropout_);
  if (!norm_first_) x = norm2_->forward(x);
  return attended;
}

}  // namespace ablate
