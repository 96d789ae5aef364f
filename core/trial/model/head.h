// From the last layer's output to logits: what an objective puts on top of the model.
#pragma once

#include "ablate/tensor.h"
#include "core/trial/model/batch.h"
#include "core/trial/model/layers.h"
#include "core/trial/model/model_options.h"

namespace ablate {

/// Of each target the class that is held for the likeliest, and what its own class costs.
struct Answers {
  Tensor predicted;  ///< [targets] int64
  Tensor losses;     ///< [targets] float32: cross-entropies, in nats; undefined unless asked for
  double loss = 0;   ///< their sum
};

/// A number for each class and target: in memory all at once, or, with large vocabularies, so many targets at a time, made from
/// what the last layer reads. The loss is the same up to rounding.
class Logits {
 public:
  Logits() = default;
  /// @param whole [targets, classes]
  Logits(Tensor whole) : whole_(std::move(whole)) {}  // NOLINT: what is whole is logits
  /// @param rows [targets, width] @param weight [classes, width] @param bias [classes] @param piece targets at a time, at least
  /// 1
  Logits(Tensor rows, Tensor weight, Tensor bias, std::int64_t piece)
      : rows_(std::move(rows)), weight_(std::move(weight)), bias_(std::move(bias)), piece_(piece) {}

  /// The mean cross-entropy, with its graph. In float32, or more: a loss in fewer digits would be the loss of other outputs.
  /// @param targets [targets] int64, at least one
  Tensor mean_loss(const Tensor& targets) const;
  /// @param each whether losses are asked for one by one
  Answers answers(const Tensor& targets, bool each) const;
  /// [targets, classes]
  Tensor whole() const { return whole_.defined() ? whole_ : linear(rows_, weight_, bias_); }

 private:
  Tensor whole_;
  Tensor rows_, weight_, bias_;
  std::int64_t piece_ = 0;
};

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
