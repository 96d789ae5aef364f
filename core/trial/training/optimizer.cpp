#include "core/trial/training/optimizer.h"

#include <ATen/ATen.h>
#include <torch/nn/utils/clip_grad.h>

namespace ablate {

AdamW::AdamW(std::vector<torch::Tensor> parameters, const Options& options)
    : parameters_(std::move(parameters)), options_(options) {
  torch::NoGradGuard no_grad;
  for (const auto& parameter : parameters_) {
    // A float32 parameter is its own; steps of a small learning rate would round to nothing in fewer digits.
    masters_.push_back(parameter.to(torch::kFloat32));
    average_.push_back(torch::zeros_like(masters_.back()));
    square_.push_back(torch::zeros_like(masters_.back()));
    count_.push_back(torch::zeros({}, masters_.back().options()));
  }
}

void AdamW::zero_grad() {
  for (auto& parameter : parameters_) parameter.mutable_grad().reset();
}

void AdamW::clip(double largest) {
  if (largest > 0) torch::nn::utils::clip_grad_norm_(parameters_, largest);
}

void AdamW::step(double learning_rate) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> parameters, gradients, average, square, count;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].grad().defined()) continue;
    count_[i].add_(1);
    parameters.push_back(masters_[i]);
    gradients.push_back(parameters_[i].grad().to(torch::kFloat32));
    average.push_back(average_[i]);
    square.push_back(square_[i]);
    count.push_back(count_[i]);
  }
  if (parameters.empty()) return;
  at::_fused_adamw_(parameters, gradients, average, square, {}, count, learning_rate, options_.beta1, options_.beta2,
                    options_.weight_decay, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (!masters_[i].is_same(parameters_[i])) parameters_[i].copy_(masters_[i]);
}

}  // namespace ablate
