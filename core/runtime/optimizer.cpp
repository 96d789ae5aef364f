#include "core/runtime/optimizer.h"

#include <ATen/ATen.h>
#include <torch/nn/utils/clip_grad.h>

namespace ablate {

AdamW::AdamW(std::vector<torch::Tensor> parameters, const Options& options)
    : parameters_(std::move(parameters)), options_(options) {
  for (const auto& parameter : parameters_) {
    average_.push_back(torch::zeros_like(parameter));
    square_.push_back(torch::zeros_like(parameter));
    count_.push_back(torch::zeros({}, parameter.options().dtype(torch::kFloat32)));
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
    parameters.push_back(parameters_[i]);
    gradients.push_back(parameters_[i].grad());
    average.push_back(average_[i]);
    square.push_back(square_[i]);
    count.push_back(count_[i]);
  }
  if (parameters.empty()) return;
  at::_fused_adamw_(parameters, gradients, average, square, {}, count, learning_rate, options_.beta1, options_.beta2,
                    options_.weight_decay, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

}  // namespace ablate
