#include "chunks.h"

#include <ATen/ops/linalg_solve_triangular.h>

#include <bit>
#include <limits>
#include <vector>

namespace ablate::delta {
namespace {

constexpr std::int64_t kChunk = 64;

/// exp of the decays between every token s and a later t, [..., t, s], 0 where s is later. Each sum is formed by itself: a
/// difference of sums from the chunk's start would lose the digits of small ones. @param log_decay [..., rows, 1]
Tensor decays_between(const Tensor& log_decay) {
  const auto rows = log_decay.size(-2);
  const auto below = ones({rows, rows}, log_decay.options().dtype(kBool).requires_grad(false)).tril(-1);
  const auto each = log_decay.expand({-1, -1, -1, -1, rows}).masked_fill(below.logical_not(), 0);  // [..., t, s]
  const auto later = below.transpose(0, 1);
  return each.cumsum(-2).masked_fill(later, -std::numeric_limits<double>::infinity()).exp();
}

}  // namespace

/// With u_i = beta_i (v_i - (decayed S_(i-1))^T k_i) it is S_i = decay_i S_(i-1) + k_i u_i^T, and within a chunk that begins
/// with S the u are the solution of (I + L) U = beta V - beta from_start K S, L_ts = beta_t decay_ts k_t k_s for s < t.
Recurred delta_rule(const Recurrence& of, const Tensor& beta, const Tensor& log_decay) {
  const auto n = of.q.size(2);
  const auto rows = std::min(kChunk, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n))));
  const auto missing = (rows - n % rows) % rows;
  const auto in_chunks = [&](const Tensor& x) { return pad(x, {0, 0, 0, missing}).unflatten(2, {-1, rows}); };
  const auto q = in_chunks(of.q), k = in_chunks(of.k), v = in_chunks(of.v), b = in_chunks(beta), g = in_chunks(log_decay);
  const auto between = decays_between(g);
  const auto from_start = g.cumsum(-2).exp(), to_end = between.narrow(-2, rows - 1, 1).transpose(-1, -2);  // [..., rows, 1]
  const auto weighted = k * b;
  const auto system = (weighted.matmul(k.transpose(-1, -2)) * between).tril(-1);
  // The diagonal is taken as 1.
  const auto solved = at::linalg_solve_triangular(system, cat({v * b, weighted * from_start}, -1), false, true, true);
  const auto of_values = solved.narrow(-1, 0, v.size(-1)).unbind(2),
             of_state = solved.narrow(-1, v.size(-1), k.size(-1)).unbind(2);
  const auto added = (k * to_end).transpose(-1, -2).unbind(2), kept = from_start.narrow(-2, rows - 1, 1).unbind(2);
  auto state = of.state.defined() ? of.state : zeros_like(added.front().matmul(of_values.front()));
  std::vector<Tensor> before, moved;
  for (std::size_t chunk = 0; chunk < added.size(); ++chunk) {
    before.push_back(state);
    moved.push_back(of_values[chunk] - of_state[chunk].matmul(state));
    state = kept[chunk] * state + added[chunk].matmul(moved.back());
  }
  const auto within = (q.matmul(k.transpose(-1, -2)) * between).matmul(stack(moved, 2));
  const auto values = within + (q * from_start).matmul(stack(before, 2));
  return {values.flatten(2, 3).narrow(2, 0, n), state};
}

}  // namespace ablate::delta
