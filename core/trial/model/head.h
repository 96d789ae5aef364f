// Head of a model, made by an objective: turns the last layer's output into logits.
#pragma once

#include "ablate/tensor.h"
#include "core/trial/model/batch.h"
#include "core/trial/model/layers.h"
#include "core/trial/model/model_options.h"

namespace ablate {

/// Most likely class of each target, and the loss at its true class.
struct Answers {
  Tensor predicted;  ///< [targets] int64
  Tensor losses;     ///< [targets] float32: cross-entropies, in nats; undefined unless requested
  double loss = 0;   ///< sum of all losses
};

/// Logits: a number for each target and class. By default they are in memory as a whole. For large vocabularies, they are made
/// for a few targets at a time, from the input of the head's last layer. Both forms give the same loss up to rounding.
class Logits {
 public:
  Logits() = default;
  /// @param whole [targets, classes]
  Logits(Tensor whole) : whole_(std::move(whole)) {}  // NOLINT: implicit, because a whole tensor is logits
  /// `rows`: [targets, width]. `weight`: [classes, width]. `bias`: [classes]. `piece`: targets at a time, at least 1.
  Logits(Tensor rows, Tensor weight, Tensor bias, std::int64_t piece)
      : rows_(std::move(rows)), weight_(std::move(weight)), bias_(std::move(bias)), piece_(piece) {}

  /// Returns the mean cross-entropy, with its graph. Computes in float32 or wider, so that rounding does not change it.
  /// @param targets [targets] int64, at least one
  Tensor mean_loss(const Tensor& targets) const;
  /// @param each true if the loss of each target is needed
  Answers answers(const Tensor& targets, bool each) const;
  /// Returns [targets, classes].
  Tensor whole() const { return whole_.defined() ? whole_ : linear(rows_, weight_, bias_); }

 private:
  Tensor whole_;
  Tensor rows_, weight_, bias_;
  std::int64_t piece_ = 0;
};

/// Gathers a row for each target and turns it into logits, by a linear layer, or by linear, ReLU, linear (option `classifier`).
class Head : public Module {
 public:
  /// @param hidden [rows, positions, d_model], after the norm
  /// @param mask [rows, positions] bool, with the class token's position; undefined: no padding
  /// @return logits of the batch's targets, in their order
  Logits forward(const Tensor& hidden, const Tensor& mask, const Batch& batch) const;

 protected:
  /// Draws the inner layer, then the last layer.
  /// @param width channels of a gathered row
  /// @param table [classes, d_model]: tied weights of the last layer; undefined: it has its own weights
  Head(const ModelOptions& options, std::int64_t width, Tensor table, const Generator& generator);

 private:
  /// @return [targets, width]
  virtual Tensor gather(const Tensor& hidden, const Tensor& mask, const Batch& batch) const = 0;

  std::int64_t piece_;
  bool fused_;  ///< argument of affine()
  std::shared_ptr<Linear> inner_;
  Tensor weight_, bias_;  ///< tensors of the last layer
};

}  // namespace ablate
