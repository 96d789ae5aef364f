// E[V(t)] for every query without keeping a weight for every query and slot: a block of queries at a time, again in backward.
#pragma once

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <vector>

#include "basis.h"

namespace ablate {

/// expected_basis(mean, variance, centres, w) values. The weights pass through a dozen elementwise steps, which cost most of
/// their time in fetching memory: blocks small enough for the cache take half the time, besides the memory saved.
class ExpectedRead : public torch::autograd::Function<ExpectedRead> {
 public:
  /// @param mean, variance [batch, heads, n, 1] @param values [batch, heads, slots, d]
  /// @param centres [batch or 1, 1, 1, slots], w [batch or 1, 1, 1, 1]: constants, without gradients
  /// @return [batch, heads, n, d]
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& mean,
                               const torch::Tensor& variance, const torch::Tensor& values, const torch::Tensor& centres,
                               const torch::Tensor& w) {
    context->save_for_backward({mean, variance, values, centres, w});
    std::vector<torch::Tensor> blocks;
    const auto rows = rows_of_block(values);
    for (std::int64_t begin = 0; begin < mean.size(2); begin += rows) {
      const auto count = std::min(rows, mean.size(2) - begin);
      blocks.push_back(
          expected_basis(mean.narrow(2, begin, count), variance.narrow(2, begin, count), centres, w).matmul(values));
    }
    return torch::cat(blocks, 2);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto values = saved[2].detach().requires_grad_();
    std::vector<torch::Tensor> means, variances;
    auto values_gradient = torch::zeros_like(values);
    const auto rows = rows_of_block(values);
    for (std::int64_t begin = 0; begin < saved[0].size(2); begin += rows) {
      const auto count = std::min(rows, saved[0].size(2) - begin);
      torch::AutoGradMode recording(true);
      const auto mean = saved[0].narrow(2, begin, count).detach().requires_grad_();
      const auto variance = saved[1].narrow(2, begin, count).detach().requires_grad_();
      const auto output = expected_basis(mean, variance, saved[3], saved[4]).matmul(values);
      const auto parts = torch::autograd::grad({output}, {mean, variance, values}, {gradients[0].narrow(2, begin, count)});
      means.push_back(parts[0]);
      variances.push_back(parts[1]);
      torch::NoGradGuard no_grad;
      values_gradient += parts[2];
    }
    return {torch::cat(means, 2), torch::cat(variances, 2), values_gradient, {}, {}};
  }

 private:
  /// Queries of a block: 2^17 weights over all items and heads, half a megabyte in float32.
  static std::int64_t rows_of_block(const torch::Tensor& values) {
    const auto weights = values.size(0) * values.size(1) * values.size(2);
    return std::max<std::int64_t>(1, (std::int64_t{1} << 17) / std::max<std::int64_t>(1, weights));
  }
};

}  // namespace ablate
