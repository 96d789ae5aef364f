// A model's score on a split.
#pragma once

#include <vector>

#include "core/trial/model/encoder.h"
#include "core/trial/training/batches.h"

namespace ablate {

struct Evaluation {
  double accuracy = 0;               ///< in %
  double loss = 0;                   ///< mean cross-entropy
  std::vector<Measurement> metrics;  ///< by name, each over the examples of the batches that reported it
};

/// Adds up batches. Every example weighs the same, in a short last batch as in a full one.
class EvaluationSum {
 public:
  /// @param output of the batch, its logits in float32
  void add(const EncoderOutput& output, const torch::Tensor& labels);
  /// At least one batch.
  Evaluation mean() const;

 private:
  struct Sum {
    double value = 0, examples = 0;
    std::string unit;
  };

  double right_ = 0, loss_ = 0, examples_ = 0;
  std::map<std::string, Sum> metrics_;
};

}  // namespace ablate
