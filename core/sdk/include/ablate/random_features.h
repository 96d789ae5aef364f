// Random features of kernels, E[phi(x).phi(y)] / count = exp(x.y), for Performer, its compression and random feature attention.
#pragma once

#include "ablate/module.h"

namespace ablate {

enum class FeatureKernel {
  kPositive,       ///< exp(w.x - |x|^2/2) (Choromanski et al. 2021, Lemma 1)
  kTrigonometric,  ///< exp(|x|^2/2) (cos w.x, sin w.x) (Rahimi and Recht 2007)
  kHyperbolic,     ///< exp(-|x|^2/2) (exp w.x, exp -w.x), which estimates 2 exp(x.y) (Choromanski et al. 2021, Lemma 1)
};

/// Returns the number of columns of a feature vector.
constexpr std::int64_t columns_of(FeatureKernel kernel) { return kernel == FeatureKernel::kPositive ? 1 : 2; }

/// phi = exp(log) factor, stored separately so that a maximum can be subtracted from `log` before the exponential.
struct LogFeatures {
  Tensor log;     ///< [batch, heads, n, count * columns], or [batch, heads, n, 1]: the same for all
  Tensor factor;  ///< [batch, heads, n, count * columns], or undefined: 1
};

/// Returns the features of x. The columns of a vector are neighbours.
/// @param x [batch, heads, n, d], already scaled by d^-1/4
/// @param w [heads, count, d]
LogFeatures log_features(FeatureKernel kernel, const Tensor& x, const Tensor& w);

/// Vectors w, each normal in R^d, in a buffer, redrawn after a number of steps. A vector is orthogonal to the others of its
/// block of d (Choromanski et al. 2021, section 2.4), or independent of them.
class FeatureVectors final : public Module {
 public:
  /// @param redraw optimiser steps between new vectors; 0: never
  /// @param generator on the CPU
  FeatureVectors(std::int64_t heads, std::int64_t count, std::int64_t d, std::int64_t redraw, const Generator& generator,
                 bool orthogonal = true);

  /// Called after optimiser step `step`, from 1. New vectors depend on the seed and the step, so a run draws the same vectors
  /// after resuming from a checkpoint and on another device.
  void on_step(std::int64_t step);

  Tensor vectors;  ///< [heads, count, d]
  Tensor drawn;    ///< [1] int64: step of the last draw, 0 at first; a state made with other vectors is invalid

 private:
  Tensor draw(std::int64_t heads, std::int64_t count, std::int64_t d, const Generator& generator) const;

  std::int64_t redraw_;
  bool orthogonal_;
  Generator draws_;  // on the CPU
  Tensor seed_;      // [1] int64, for later draws
};

}  // namespace ablate
