// From the last layer's output to logits: what an objective puts on top of the model.
#pragma once

#include "core/trial/model/batch.h"
#include "core/trial/model/layers.h"
#include "core/trial/model/logits.h"
#include "core/trial/model/model_options.h"

namespace ablate {

/// Gathers a row for each target, and turns it into logits by a linear layer, or, by the option `classifier`, by linear, ReLU,
/// linear.
class Head : public Module {
 public:
  /// @param hidden [rows, positions, d_model], normed @param mask [rows, positions] bool, of positions with the class token;
  /// undefined: all are there @return of the batch's targets, in their order
  Logits forward(const Tensor& hidden, const Tensor& mask, const Batch& batch) const;

 protected:
  /// Draws the inner layer, then the last one. @param width of a gathered row @param table [classes, d_model]: the last layer's
  /// weights, tied to others; undefined: it has its own
  Head(const ModelOptions& options, std::int64_t width, Tensor table, const Generator& generator);

 private:
  /// @return [targets, width]
  virtual Tensor gather(const Tensor& hidden, const Tensor& mask, const Batch& batch) const = 0;

  std::int64_t piece_;
  bool fused_;  ///< of affine()
  std::shared_ptr<Linear> inner_;
  Tensor weight_, bias_;  ///< of the last layer
};

}  // namespace ablate
