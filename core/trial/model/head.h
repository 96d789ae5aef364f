// From the last layer's output to logits: what an objective puts on top of the model.
#pragma once

#include "ablate/module.h"
#include "core/trial/model/batch.h"

namespace ablate {

class Head : public Module {
 public:
  /// @param hidden [rows, places, d_model], normed @param mask [rows, places] bool, of places with the class token; undefined:
  /// all are there @return logits [targets, classes], in the order of Batch::targets
  virtual Tensor forward(const Tensor& hidden, const Tensor& mask, const Batch& batch) const = 0;
};

}  // namespace ablate
