// Gaussian basis functions on [0, 1] (infinity-former, Martins et al. 2021): regression onto them, and their expectation.
//
// Basis function j of N is psi_j(t) = exp(-(t - c_j)^2 / (2 w^2)), c_j = (j + 1/2) / N, w = width / N: centres a spacing of 1/N
// apart, height 1 whatever N is, so that one ridge suits all lengths. Token i of L stands at t_i = (i + 1/2) / L.
#pragma once

#include <ATen/ops/cholesky_solve.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_cholesky.h>

#include <cmath>

#include "ablate/tensor.h"

namespace ablate {

/// psi_j(t_i) as a matrix [slots, length], float64 on the CPU. @param width in units of the centres' spacing, > 0
inline Tensor basis_at_tokens(std::int64_t length, std::int64_t slots, double width) {
  const auto t = (arange(length, kDouble) + 0.5) / static_cast<double>(length);
  const auto c = (arange(slots, kDouble) + 0.5) / static_cast<double>(slots);
  const auto away = (t.unsqueeze(0) - c.unsqueeze(1)) * (static_cast<double>(slots) / width);
  return (away.square() * -0.5).exp();
}

/// The ridge regression as a matrix: coefficients B = R X of tokens X [length, d], R = (F F^T + ridge I)^-1 F, which depends on
/// no data. [slots, length], float64 on the CPU. @param ridge > 0, against a Gram matrix of entries up to length / slots
inline Tensor ridge_matrix(std::int64_t length, std::int64_t slots, double width, double ridge) {
  const auto f = basis_at_tokens(length, slots, width);
  const auto gram = f.matmul(f.t()) + ridge * at::eye(slots, kDouble);
  return at::cholesky_solve(f, at::linalg_cholesky(gram));
}

/// E[psi_j(t)] for t normal with this mean and variance, truncated to [0, 1] and renormalised there, so that no mass is lost:
/// the product of two Gaussians is a Gaussian, whose share in [0, 1] is a difference of error functions.
/// @param mean in [0, 1] @param variance > 0 @param centres in [0, 1] @param w > 0; all broadcast against each other.
inline Tensor expected_basis(const Tensor& mean, const Tensor& variance, const Tensor& centres, const Tensor& w) {
  const auto total = variance + w.square();
  const auto share = w.square() / total;
  // The product's mean is centres (1 - share) + mean share, its deviation 1 / (sqrt(2) sharpness).
  const auto sharpness = (variance * share * 2).rsqrt();
  const auto below = centres * (sharpness * (1 - share)) + mean * share * sharpness;
  const auto scale = (variance * 2).rsqrt();
  // Both means lie in [0, 1], so each pair of error functions is a sum of two terms of one sign: nothing cancels.
  const auto inside = (sharpness - below).erf() + below.erf();
  const auto all = ((1 - mean) * scale).erf() + (mean * scale).erf();
  return ((mean - centres).square() / (total * -2)).exp() * inside * (share.sqrt() / all);
}

/// How much of the same truncated Gaussian lies between neighbouring edges. @param edges [..., cells + 1], rising in [0, 1]
/// @return [..., cells], of sum 1 where the edges reach from 0 to 1
inline Tensor shares_between(const Tensor& mean, const Tensor& variance, const Tensor& edges) {
  const auto scale = (variance * 2).rsqrt();
  const auto below = ((edges - mean) * scale).erf();
  const auto cells = edges.size(-1) - 1;
  return (below.narrow(-1, 1, cells) - below.narrow(-1, 0, cells)) / (((1 - mean) * scale).erf() + (mean * scale).erf());
}

}  // namespace ablate
