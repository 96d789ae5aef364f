#include "ablate/kernel_attention.h"

#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/isinf.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

namespace ablate {
namespace {

/// Tokens come before heads in memory, [batch, length, heads, d]. The projections give this order and merge_heads needs it, so
/// nothing is copied. The backward pass needs only the features: phi' is min(phi, 1) for elu + 1, and [phi > 0] for relu.
class KernelAttention : public torch::autograd::Function<KernelAttention> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& queries, const Tensor& keys,
                        const Tensor& values, const std::optional<Tensor>& mass, FeatureMap map) {
    const auto q = kernel_features(token_major(queries), map), k = kernel_features(token_major(keys), map),
               v = token_major(values);
    const auto weights = mass ? mass->transpose(1, 2).unsqueeze(-1) : Tensor();  // [batch, slots, heads or 1, 1]
    const auto weighted = weights.defined() ? k * weights : k;
    const auto heads = q.size(2), d_value = v.size(3);
    const auto totals = weighted.sum(1).unsqueeze(-1);  // [batch, heads, d, 1]
    auto output = at::empty({q.size(0), q.size(1), heads, d_value}, q.options());
    auto sums = at::empty({q.size(0), q.size(1), heads, 1}, q.options());
    auto memory = at::empty({q.size(0), heads, q.size(3), d_value + 1}, q.options());  // sums of phi(k) v^T, and of phi(k)
    for (std::int64_t h = 0; h < heads; ++h) {
      auto head = memory.select(1, h);
      head.narrow(-1, 0, d_value).copy_(at::bmm(weighted.select(2, h).transpose(1, 2), v.select(2, h)));
      head.narrow(-1, d_value, 1).copy_(totals.select(1, h));
      const auto read = at::bmm(q.select(2, h), head);
      auto sum = sums.select(2, h);
      sum.copy_(read.narrow(-1, d_value, 1));
      // Division by infinity makes a value and its gradients exactly 0. A sum too large for its type becomes NaN instead.
      sum.masked_fill_(at::isinf(sum), std::numeric_limits<double>::quiet_NaN());
      sum.masked_fill_(sum <= least_kernel_sum(q), std::numeric_limits<double>::infinity());
      auto head_output = output.select(2, h);
      at::div_out(head_output, read.narrow(-1, 0, d_value), sum);
    }
    context->saved_data["map"] = static_cast<std::int64_t>(map);
    context->save_for_backward({q, k, v, weights, memory, sums, output});
    return output.transpose(1, 2);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (c10::GradMode::is_enabled())
      throw std::runtime_error("kernel attention is differentiable once: leave out create_graph");
    const auto saved = context->get_saved_variables();
    const auto &q = saved[0], &k = saved[1], &v = saved[2], &weights = saved[3], &memory = saved[4], &sums = saved[5],
               &output = saved[6];
    const auto map = static_cast<FeatureMap>(context->saved_data["map"].toInt());
    const auto weighted = weights.defined() ? k * weights : k;
    const auto heads = q.size(2), d_value = v.size(3);
    // Gradients of the numerators and, in the last column, of the sums of weights.
    auto read = at::empty({q.size(0), q.size(1), heads, d_value + 1}, q.options());
    auto numerators = read.narrow(-1, 0, d_value);
    at::div_out(numerators, gradients[0].transpose(1, 2), sums);
    read.narrow(-1, d_value, 1).copy_((numerators * output).sum(-1, true).neg_());
    auto q_gradient = at::empty_like(q), k_gradient = at::empty_like(k), v_gradient = at::empty_like(v);
    for (std::int64_t h = 0; h < heads; ++h) {
      auto q_head = q_gradient.select(2, h), k_head = k_gradient.select(2, h), v_head = v_gradient.select(2, h);
      at::bmm_out(q_head, read.select(2, h), memory.select(1, h).transpose(1, 2));
      const auto written = at::bmm(q.select(2, h).transpose(1, 2), read.select(2, h));  // memory gradient, [.., d, d_value + 1]
      const auto of_values = written.narrow(-1, 0, d_value);
      const auto of_totals = written.narrow(-1, d_value, 1).transpose(1, 2);
      at::baddbmm_out(k_head, of_totals.expand({-1, k.size(1), -1}), v.select(2, h), of_values.transpose(1, 2));
      at::bmm_out(v_head, weighted.select(2, h), of_values);
    }
    Tensor mass_gradient;
    if (weights.defined()) {
      if (context->needs_input_grad(3))
        mass_gradient =
            (k_gradient * k).sum(-1).sum_to_size({weights.size(0), weights.size(1), weights.size(2)}).transpose(1, 2);
      k_gradient.mul_(weights);
    }
    through_features(q_gradient, q, map);
    through_features(k_gradient, k, map);
    return {q_gradient.transpose(1, 2), k_gradient.transpose(1, 2), v_gradient.transpose(1, 2), mass_gradient, {}};
  }

 private:
  static Tensor token_major(const Tensor& x) { return x.transpose(1, 2).contiguous(); }
  static void through_features(Tensor& gradient, const Tensor& phi, FeatureMap map) {
    if (map == FeatureMap::kRelu)
      at::threshold_backward_out(gradient, gradient, phi, 0);
    else
      gradient.mul_(at::clamp_max(phi, 1));
  }
};

}  // namespace

Tensor kernel_features(const Tensor& x, FeatureMap map) {
  if (map == FeatureMap::kRelu) return at::relu(x);
  return at::clamp_max(x, 0).exp_() + at::relu(x);  // above 0 the exponential is 1, which gives x + 1; below 0 it is e^x
}

double least_kernel_sum(const Tensor& x) {
  return std::sqrt(x.scalar_type() == at::kDouble ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min());
}

Tensor kernel_attention(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& mass, FeatureMap map) {
  const auto type = queries.scalar_type();
  const bool half = c10::isReducedFloatingType(type);
  const auto wide = [half](const Tensor& x) { return half ? x.to(at::kFloat) : x; };
  const auto weights = mass.defined() ? std::optional(wide(mass)) : std::nullopt;
  return KernelAttention::apply(wide(queries), wide(keys), wide(values), weights, map).to(type);
}

}  // namespace ablate
