// Computes E[V(t)] in blocks of queries. The backward pass computes the weights again, so no [queries, slots] weights are
// stored.
#pragma once

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <vector>

#include "ablate/operation.h"
#include "basis.h"

namespace ablate {

/// Matrix product of expected_basis(mean, variance, centres, w) and values. The weights pass through a dozen elementwise steps
/// whose cost is mostly memory access: blocks that fit into the cache take half the time and save memory.
/// @param mean, variance [batch, heads, n, 1]
/// @param values [batch, heads, slots, d]
/// @param centres [batch or 1, 1, 1, slots], w [batch or 1, 1, 1, 1]: constants, without gradients
/// @return [batch, heads, n, d]
inline Tensor expected_read(const Tensor& mean, const Tensor& variance, const Tensor& values, const Tensor& centres,
                            const Tensor& w) {
  // Queries of a block: 2^17 weights over all items and heads, half a megabyte in float32.
  const auto weights = values.size(0) * values.size(1) * values.size(2);
  const auto rows = std::max<std::int64_t>(1, (std::int64_t{1} << 17) / std::max<std::int64_t>(1, weights));
  const auto forward = [&](Saved& saved) {
    saved = {mean, variance, values, centres, w};
    std::vector<Tensor> blocks;
    for (std::int64_t begin = 0; begin < mean.size(2); begin += rows) {
      const auto count = std::min(rows, mean.size(2) - begin);
      blocks.push_back(
          expected_basis(mean.narrow(2, begin, count), variance.narrow(2, begin, count), centres, w).matmul(values));
    }
    return cat(blocks, 2);
  };
  const auto backward = [rows](const Tensor& gradient, const Saved& saved) -> std::vector<Tensor> {
    const auto read = saved[2].detach().requires_grad_();
    std::vector<Tensor> means, variances;
    auto values_gradient = zeros_like(read);
    for (std::int64_t begin = 0; begin < saved[0].size(2); begin += rows) {
      const auto count = std::min(rows, saved[0].size(2) - begin);
      c10::AutoGradMode recording(true);
      const auto centre = saved[0].narrow(2, begin, count).detach().requires_grad_();
      const auto spread = saved[1].narrow(2, begin, count).detach().requires_grad_();
      const auto output = expected_basis(centre, spread, saved[3], saved[4]).matmul(read);
      const auto parts = torch::autograd::grad({output}, {centre, spread, read}, {gradient.narrow(2, begin, count)});
      means.push_back(parts[0]);
      variances.push_back(parts[1]);
      NoGradGuard no_grad;
      values_gradient += parts[2];
    }
    return {cat(means, 2), cat(variances, 2), values_gradient, {}, {}};
  };
  return with_gradient({mean, variance, values, centres, w}, forward, backward);
}

}  // namespace ablate
