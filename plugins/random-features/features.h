// Random features of the softmax kernel (Performer, Choromanski et al. 2021): E[phi(x).phi(y)] / slots = exp(x.y).
#pragma once

#include <ATen/ops/linalg_qr.h>

#include "ablate/tensor.h"

namespace ablate {

enum class FeatureKernel {
  kPositive,       ///< exp(w.x - |x|^2/2)
  kTrigonometric,  ///< exp(|x|^2/2) (cos w.x, sin w.x)
  kHyperbolic,     ///< exp(-|x|^2/2) (exp w.x, exp -w.x), which estimates 2 exp(x.y)
};

/// Columns that a feature vector fills.
constexpr std::int64_t columns_of(FeatureKernel kernel) { return kernel == FeatureKernel::kPositive ? 1 : 2; }

/// Vectors w, each normal in R^d and orthogonal to the others of its block of d: [heads, count, d], float32 on the CPU.
inline Tensor orthogonal_features(std::int64_t heads, std::int64_t count, std::int64_t d, const Generator& generator) {
  const auto blocks = (count + d - 1) / d;
  const auto normal = [&] { return randn({heads, blocks, d, d}, generator, kDouble); };
  const auto [q, r] = at::linalg_qr(normal());
  // With the signs of R's diagonal, Q is uniform among the rotations (Mezzadri 2007); without, it depends on the factorisation.
  const auto rotation = (q * r.diagonal(0, -2, -1).sign().unsqueeze(-2)).transpose(-1, -2);
  const auto lengths = normal().norm(2, -1, true);  // of a normal vector in R^d: chi with d degrees
  return (rotation * lengths).flatten(1, 2).narrow(1, 0, count).to(kFloat);
}

/// phi = exp(log) factor, kept apart so that a maximum can be taken from `log` before the exponential.
struct LogFeatures {
  Tensor log;     ///< [batch, heads, n, slots * columns], or [batch, heads, n, 1]: the same for all
  Tensor factor;  ///< [batch, heads, n, slots * columns], or undefined: 1
};

/// @param x [batch, heads, n, d], scaled by d^-1/4 already @param w [heads, slots, d]. A slot's columns are neighbours.
inline LogFeatures log_features(FeatureKernel kernel, const Tensor& x, const Tensor& w) {
  const auto phase = x.matmul(w.transpose(-1, -2));
  const auto half = x.square().sum(-1, true) / 2;
  switch (kernel) {
    case FeatureKernel::kPositive:
      return {phase - half, {}};
    case FeatureKernel::kTrigonometric:
      return {half, stack({phase.cos(), phase.sin()}, -1).flatten(-2)};
    case FeatureKernel::kHyperbolic:
      break;
  }
  return {stack({phase, -phase}, -1).flatten(-2) - half, {}};
}

}  // namespace ablate
