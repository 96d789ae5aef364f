#include "core/trial/model/block.h"

#include <ATen/ops/dropout.h>

namespace ablate {

Block::Block(const ModelOptions& options, const Generator& generator)
    : dropout_(options.dropout), norm_first_(options.norm_first) {
  norm1_ = register_module("norm1", options.norm(options.d_model, options.own));
  if (options.hidden == 0) return;
  norm2_ = register_module("norm2", options.norm(options.d_model, options.own));
  feed_forward_ = register_module("feed_forward", options.feed_forward(options, generator));
}

Tensor Block::drop(const Tensor& x) const { return is_training() && dropout_ > 0 ? at::dropout(x, dropout_, true) : x; }

AttentionOutput Block::forward(Tensor& x, Attention& attention, AttentionInput input) const {
  input.queries = input.context = norm_first_ ? norm1_->forward(x) : x;
  auto attended = attention.forward(input);
  x = x + drop(attended.output);
  if (!norm_first_) x = norm1_->forward(x);
  if (!feed_forward_) return attended;
  x = x + drop(feed_forward_->forward(norm_first_ ? norm2_->forward(x) : x));
  if (!norm_first_) x = norm2_->forward(x);
  return attended;
}

}  // namespace ablate
