// The SDK's delta rule: the reference in plain operators, and the choice of the fused form.
#include <ATen/ops/linalg_solve_triangular.h>

#include <limits>
#include <vector>

#include "ablate/delta_rule.h"
#include "core/kernels/delta_rule.h"
#include "core/kernels/reference_chunks.h"

namespace ablate {
namespace {

using kernels::sums_behind;

/// exp of the sum of log decays behind token s and up to token t, [..., t, s]; 0 if s > t. Each sum is computed by itself,
/// because a difference of sums from the chunk's start would lose the digits of small sums. log_decay: [..., rows, 1].
Tensor decays_between(const Tensor& log_decay) {
  const auto rows = log_decay.size(-2);
  const auto below = ones({rows, rows}, log_decay.options().dtype(kBool).requires_grad(false)).tril(-1);
  const auto each = log_decay.expand({-1, -1, -1, -1, rows}).masked_fill(below.logical_not(), 0);  // [..., t, s]
  const auto later = below.transpose(0, 1);
  return each.cumsum(-2).masked_fill(later, -std::numeric_limits<double>::infinity()).exp();
}

/// a_t diag(exp(log decays between s and t)) k_s for s up to t, otherwise 0, if each channel has its own decay. By halves: a
/// row of the second half meets a row of the first half across their border, so both factors are at most 1.
/// @param a, k, log_decay [..., rows, d], rows a power of 2
/// @return [..., t, s]
Tensor products_by_halves(const Tensor& a, const Tensor& k, const Tensor& log_decay) {
  const auto rows = a.size(-2);
  auto blocks = (a * k).sum(-1, true).unsqueeze(-1);  // on the diagonal: [..., rows / half, half, half]
  for (std::int64_t half = 1; half < rows; half *= 2) {
    const auto part = [&](const Tensor& x, std::int64_t which) {
      return x.unflatten(-2, {rows / (2 * half), 2, half}).select(-3, which);
    };
    const auto later = part(a, 1) * part(log_decay, 1).cumsum(-2).exp();
    const auto earlier = part(k, 0) * sums_behind(part(log_decay, 0)).exp();
    const auto pairs = blocks.unflatten(-3, {rows / (2 * half), 2});
    const auto first = pairs.select(-3, 0), second = pairs.select(-3, 1);
    const auto met = later.matmul(earlier.transpose(-1, -2));
    blocks = cat({cat({first, zeros_like(first)}, -1), cat({met, second}, -1)}, -2);
  }
  return blocks.squeeze(-3);
}

/// Products of rows with the decays within chunks.
class Decays {
 public:
  /// @param log [batch or 1, heads, chunks, rows, 1 or d_key]; heads is 1 if there is no decay
  explicit Decays(const Tensor& log) : log_(log), between_(log.size(-1) == 1 ? decays_between(log) : Tensor()) {}

  /// Products of rows t of a and rows s of k, on and below the diagonal.
  Tensor products(const Tensor& a, const Tensor& k) const {
    if (!between_.defined()) return products_by_halves(a, k, log_);
    return a.matmul(k.transpose(-1, -2)) * between_;
  }
  /// Decay from before the chunk to each row, including the row's own. [..., rows, 1 or d_key]
  Tensor from_start() const { return log_.cumsum(-2).exp(); }
  /// Decay from each row, without its own, to the chunk's end.
  Tensor to_end() const {
    if (!between_.defined()) return sums_behind(log_).exp();
    return between_.narrow(-2, between_.size(-1) - 1, 1).transpose(-1, -2);
  }

 private:
  Tensor log_;
  Tensor between_;  ///< [..., t, s]; undefined: each channel has its own decay
};

/// Let u_i = write_i * v_i - (decayed S_(i-1))^T (erase_i * k_i). Then S_i = decay_i S_(i-1) + k_i u_i^T. In a chunk that
/// begins with S: (I + L) U = write * V - (erase * K * from_start) S. L_ts is (erase_t * k_t).k_s times decays, for s < t.
DecayedSums corrected(const DeltaRule& of) {
  const auto n = of.q.size(2);
  const kernels::Chunks chunks(n);
  const auto q = chunks.of(of.q), k = chunks.of(of.k), v = chunks.of(of.v);
  const Decays decays(
      chunks.of(of.log_decay.defined() ? of.log_decay : zeros({1, 1, n, 1}, of.q.options().requires_grad(false))));
  const auto from_start = decays.from_start(), to_end = decays.to_end();
  const auto erased = k * chunks.of(of.erase), written = v * chunks.of(of.write);
  const auto system = decays.products(erased, k).tril(-1);
  // The last argument says that the diagonal is 1.
  const auto solved = at::linalg_solve_triangular(system, cat({written, erased * from_start}, -1), false, true, true);
  const auto of_values = solved.narrow(-1, 0, v.size(-1)).unbind(2),
             of_state = solved.narrow(-1, v.size(-1), k.size(-1)).unbind(2);
  const auto added = (k * to_end).transpose(-1, -2).unbind(2);
  const auto kept = from_start.narrow(-2, chunks.rows() - 1, 1).transpose(-1, -2).unbind(2);
  auto state = of.state.defined() ? of.state : zeros_like(added.front().matmul(of_values.front()));
  std::vector<Tensor> before, moved;
  for (std::size_t chunk = 0; chunk < added.size(); ++chunk) {
    before.push_back(state);
    moved.push_back(of_values[chunk] - of_state[chunk].matmul(state));
    state = kept[chunk] * state + added[chunk].matmul(moved.back());
  }
  const auto within = decays.products(q, k).matmul(stack(moved, 2));
  const auto values = within + (q * from_start).matmul(stack(before, 2));
  return {values.flatten(2, 3).narrow(2, 0, n), state};
}

}  // namespace

DecayedSums delta_rule(const DeltaRule& of, bool fused) {
  if (fused && kernels::may_fuse_delta_rule(of)) return kernels::fused_delta_rule(of);
  return corrected(of);
}

}  // namespace ablate
