#include "core/trial/model/block.h"

#include "core/kernels/dropout_noise.h"
#include "core/kernels/feed_forward.h"

namespace ablate {

Block::Block(const ModelOptions& options, const Generator& generator)
    : dropout_(options.dropout), norm_first_(options.norm_first), kernels_(options.kernels) {
  norm1_ = register_module("norm1", options.norm(options.d_model, options.own));
  if (options.hidden == 0) return;
  norm2_ = register_module("norm2", options.norm(options.d_model, options.own));
  feed_forward_ = register_module("feed_forward", options.feed_forward(options, generator));
}

Tensor Block::drop(const Tensor& x) const { return kernels::dropout(x, is_training() ? dropout_ : 0); }

Tensor Block::feed_forward(const Tensor& x) const {
  if (!norm_first_) return norm2_->forward(x + drop(feed_forward_->forward(x)));
  const auto norm = norm2_->layer_norm();
  auto kernel = feed_forward_->kernel();
  if (!norm || !kernel) return x + drop(feed_forward_->forward(norm2_->forward(x)));
  kernel->gamma = norm->weight, kernel->beta = norm->bias;
  kernel->dropout = is_training() ? dropout_ : 0;
  return kernels::feed_forward(x, *kernel, kernels_);
}

AttentionOutput Block::forward(Tensor& x, Attention& attention, AttentionInput input) const {
  input.queries = input.context = norm_first_ ? norm1_->forward(x) : x;
  auto attended = attention.forward(input);
  x = x + drop(attended.output);
  if (!norm_first_) x = norm1_->forward(x);
  if (feed_forward_) x = feed_forward(x);
  return attended;
}

}  // namespace ablate
