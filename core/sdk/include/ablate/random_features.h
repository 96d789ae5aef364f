// Random features of kernels: E[phi(x).phi(y)] / count = exp(x.y). Performer, the compression made of it, random feature
// attention.
#pragma once

#include "ablate/module.h"

namespace ablate {

enum class FeatureKernel {
  kPositive,       ///< exp(w.x - |x|^2/2) (Choromanski et al. 2021, Lemma 1)
  kTrigonometric,  ///< exp(|x|^2/2) (cos w.x, sin w.x) (Rahimi and Recht 2007)
  kHyperbolic,     ///< exp(-|x|^2/2) (exp w.x, exp -w.x), which estimates 2 exp(x.y) (Choromanski et al. 2021, Lemma 1)
};

/// Columns that a feature vector fills.
constexpr std::int64_t columns_of(FeatureKernel kernel) { return kernel == FeatureKernel::kPositive ? 1 : 2; }

/// phi = exp(log) factor, kept apart so that a maximum can be taken from `log` before the exponential.
struct LogFeatures {
  Tensor log;     ///< [batch, heads, n, count * columns], or [batch, heads, n, 1]: the same for all
  Tensor factor;  ///< [batch, heads, n, count * columns], or undefined: 1
};

/// @param x [batch, heads, n, d], scaled by d^-1/4 already @param w [heads, count, d]. A vector's columns are neighbours.
LogFeatures log_features(FeatureKernel kernel, const Tensor& x, const Tensor& w);

/// The vectors w, each normal in R^d, in a buffer; drawn anew every so many steps. A vector is orthogonal to the others of its
/// block of d (Choromanski et al. 2021, section 2.4), or independent of them.
class FeatureVectors final : public Module {
 public:
  /// @param redraw optimiser steps between new vectors; 0: never @param generator a CPU one
  FeatureVectors(std::int64_t heads, std::int64_t count, std::int64_t d, std::int64_t redraw, const Generator& generator,
                 bool orthogonal = true);

  /// After optimiser step `step`, from 1. By the seed and the step, so that a run that goes on from a checkpoint draws what it
  /// would have drawn, and so does one on another device.
  void on_step(std::int64_t step);

  Tensor vectors;  ///< [heads, count, d]
  Tensor drawn;    ///< [1] int64: the step after which they were drawn, 0 at first. A state made with others means nothing.

 private:
  Tensor draw(std::int64_t heads, std::int64_t count, std::int64_t d, const Generator& generator) const;

  std::int64_t redraw_;
  bool orthogonal_;
  Generator draws_;  // on the CPU
  Tensor seed_;      // [1] int64, of later draws
};

}  // namespace ablate
