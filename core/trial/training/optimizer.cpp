#include "core/trial/training/optimizer.h"

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

namespace ablate {

AdamW::AdamW(const std::vector<Module::Entry>& parameters, const Options& options) : options_(options) {
  const NoGradGuard no_grad;
  for (const auto& entry : parameters) {
    // A float32 parameter is its own; steps of a small learning rate would round to nothing in fewer digits.
    const auto master = entry.tensor.to(kFloat);
    trained_.push_back({entry.tensor, master, at::zeros_like(master), at::zeros_like(master), at::zeros({}, master.options()),
                        entry.kept.decay});
  }
}

void AdamW::zero_grad() {
  for (auto& one : trained_) one.parameter.mutable_grad().reset();
}

void AdamW::clip(double largest) {
  if (largest <= 0) return;
  std::vector<Tensor> gradients, norms;
  for (const auto& one : trained_)
    if (one.parameter.grad().defined()) {
      gradients.push_back(one.parameter.grad().detach());
      norms.push_back(gradients.back().norm(2));
    }
  if (gradients.empty()) return;
  // As torch's clip_grad_norm_ does: a norm of 0 divides nothing by 0.
  constexpr double kLeast = 1e-6;
  const auto norm = norms.size() == 1 ? norms.front() : at::stack(norms).norm(2);
  const auto factor = (largest / (norm + kLeast)).clamp_max(1.0);
  for (auto& gradient : gradients) gradient.mul_(factor);
}

void AdamW::step(double learning_rate, double beta1) {
  const NoGradGuard no_grad;
  for (const bool decay : {true, false}) step_those(learning_rate, beta1, decay);
  for (auto& one : trained_)
    if (!one.master.is_same(one.parameter)) one.parameter.copy_(one.master);
}

void AdamW::step_those(double learning_rate, double beta1, bool decay) {
  std::vector<Tensor> parameters, gradients, average, square, count;
  for (auto& one : trained_) {
    if (one.decay != decay || !one.parameter.grad().defined()) continue;
    one.count.add_(1);
    parameters.push_back(one.master);
    gradients.push_back(one.parameter.grad().to(kFloat));
    average.push_back(one.average);
    square.push_back(one.square);
    count.push_back(one.count);
  }
  if (parameters.empty()) return;
  at::_fused_adamw_(parameters, gradients, average, square, {}, count, learning_rate, beta1, options_.beta2,
                    decay ? options_.weight_decay : 0, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

std::vector<Tensor> AdamW::state() const {
  std::vector<Tensor> all;
  for (const auto& one : trained_)
    for (const auto& tensor : {one.master, one.average, one.square, one.count}) all.push_back(tensor);
  return all;
}

}  // namespace ablate
