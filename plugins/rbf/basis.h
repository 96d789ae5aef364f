// Gaussian basis functions on [0, 1] (infinity-former, Martins et al. 2021): regression onto them, and their expectation.
//
// Basis function j of N is psi_j(t) = exp(-(t - c_j)^2 / (2 w^2)), c_j = (j + 1/2) / N, w = width / N. The centres are 1/N
// apart and the height is 1 for every N, so that one ridge suits all lengths. Token i of L is at t_i = (i + 1/2) / L.
#pragma once

#include <ATen/ops/cholesky_solve.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_cholesky.h>
#include <ATen/ops/searchsorted.h>

#include <cmath>

#include "ablate/tensor.h"

namespace ablate {

/// psi_j(t). Shapes: t [..., n, 1] with centres [slots], or t [1, n] with centres [slots, 1].
/// @param width in units of the distance between centres, > 0
inline Tensor basis_at(const Tensor& t, const Tensor& centres, std::int64_t slots, double width) {
  const auto away = (t - centres) * (static_cast<double>(slots) / width);
  return (away.square() * -0.5).exp();
}

/// The middles of `count` equal cells of [0, 1], the positions of tokens and centres: [count]
inline Tensor middles(std::int64_t count, const TensorOptions& options = kDouble) {
  return (arange(count, options) + 0.5) / static_cast<double>(count);
}

/// psi_j(t_i) as a matrix [slots, length], float64 on the CPU.
inline Tensor basis_at_tokens(std::int64_t length, std::int64_t slots, double width) {
  return basis_at(middles(length).unsqueeze(0), middles(slots).unsqueeze(1), slots, width);
}

/// Ridge regression onto functions with values f [slots, n] at n places: R = (F F^T + ridge I)^-1 F. R does not depend on data.
/// @param ridge > 0; for comparison, the entries of F F^T are of the order of n / slots
inline Tensor regression(const Tensor& f, double ridge) {
  const auto gram = f.matmul(f.t()) + ridge * at::eye(f.size(0), kDouble);
  return at::cholesky_solve(f, at::linalg_cholesky(gram));
}

/// Returns R [slots, length], float64 on the CPU: tokens X [length, d] have the coefficients B = R X.
inline Tensor ridge_matrix(std::int64_t length, std::int64_t slots, double width, double ridge) {
  return regression(basis_at_tokens(length, slots, width), ridge);
}

/// Returns R [slots, samples + length], float64 on the CPU, of an extended signal: the old signal, sampled at `samples` places,
/// is contracted to [0, tau], and `length` new tokens are in (tau, 1] (section 3.2). tau is in (0, 1).
inline Tensor contraction_matrix(std::int64_t samples, std::int64_t length, double tau, std::int64_t slots, double width,
                                 double ridge) {
  const auto t = cat({middles(samples) * tau, middles(length) * (1 - tau) + tau});
  return regression(basis_at(t.unsqueeze(0), middles(slots).unsqueeze(1), slots, width), ridge);
}

/// Inverse distribution function of the looks, the attention to each cell (sticky memories, section 3.3). Looks are uniform
/// within a cell. If the sum of looks is 0, all cells count alike.
/// @param looks [..., cells], at least 0
/// @param shares [..., n] in [0, 1), of the looks' type
/// @return [..., n] in [0, 1]
inline Tensor place_of(const Tensor& looks, const Tensor& shares) {
  const auto cells = looks.size(-1);
  const auto total = looks.sum(-1, true);
  const auto share = (looks / total).masked_fill(total <= 0, 1 / static_cast<double>(cells));
  const auto upto = share.cumsum(-1);
  const auto cell = at::searchsorted(upto, shares, /*out_int32=*/false, /*right=*/true).clamp_max(cells - 1);
  // A cell that is reached only by rounding may have no looks.
  const auto inside = (shares - (upto - share).gather(-1, cell)) / share.gather(-1, cell).clamp_min(1e-30);
  return (cell + inside.clamp(0, 1)) / static_cast<double>(cells);
}

/// E[psi_j(t)] for t normal with this mean and variance, truncated to [0, 1] and renormalised, so that no mass is lost. The
/// product of two Gaussians is a Gaussian, whose share in [0, 1] is a difference of error functions.
/// @param mean in [0, 1]
/// @param variance > 0
/// @param centres in [0, 1]
/// @param w > 0; all four arguments broadcast against each other
inline Tensor expected_basis(const Tensor& mean, const Tensor& variance, const Tensor& centres, const Tensor& w) {
  const auto total = variance + w.square();
  const auto share = w.square() / total;
  // The product's mean is centres (1 - share) + mean share, its deviation 1 / (sqrt(2) sharpness).
  const auto sharpness = (variance * share * 2).rsqrt();
  const auto below = centres * (sharpness * (1 - share)) + mean * share * sharpness;
  const auto scale = (variance * 2).rsqrt();
  // Both means are in [0, 1], so each pair of error functions is a sum of two terms of the same sign, without cancellation.
  const auto inside = (sharpness - below).erf() + below.erf();
  const auto all = ((1 - mean) * scale).erf() + (mean * scale).erf();
  return ((mean - centres).square() / (total * -2)).exp() * inside * (share.sqrt() / all);
}

/// Share of expected_basis()'s truncated Gaussian between neighbouring edges: [..., cells]. The sum is 1 if the edges reach
/// from 0 to 1.
/// @param edges [..., cells + 1], rising in [0, 1]
inline Tensor shares_between(const Tensor& mean, const Tensor& variance, const Tensor& edges) {
  const auto scale = (variance * 2).rsqrt();
  const auto below = ((edges - mean) * scale).erf();
  const auto cells = edges.size(-1) - 1;
  return (below.narrow(-1, 1, cells) - below.narrow(-1, 0, cells)) / (((1 - mean) * scale).erf() + (mean * scale).erf());
}

}  // namespace ablate
