// What a model says of a batch's targets.
#pragma once

#include "ablate/tensor.h"

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

}  // namespace ablate
