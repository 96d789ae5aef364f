// One layer of the model: attention and feed-forward part, each with its norm and its residual.
#pragma once

#include "ablate/attention.h"
#include "core/trial/model/layers.h"
#include "core/trial/model/model_options.h"

namespace ablate {

/// Pre-norm: x += attention(norm(x)); x += feed_forward(norm(x)). Post-norm: the norm after each sum. Where core/kernels has
/// the feed-forward part, with its norm and residual, that takes their place.
class Block final : public Module {
 public:
  Block(const ModelOptions& options, const Generator& generator);

  /// @param x [rows, positions, d_model] @param input everything but queries and context @param x becomes the layer's output
  /// @return what the attention gave besides
  AttentionOutput forward(Tensor& x, Attention& attention, AttentionInput input) const;

 private:
  Tensor drop(const Tensor& x) const;
  Tensor feed_forward(const Tensor& x) const;

  double dropout_;
  bool norm_first_;
  kernels::Choice kernels_;
  std::shared_ptr<Norm> norm1_, norm2_;
  std::shared_ptr<FeedForward> feed_forward_;  ///< null: there is none
};

}  // namespace ablate
