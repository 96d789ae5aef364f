#include "core/trial/training/optimizer.h"

#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.h"

namespace ablate {

std::vector<Module::Entry> decayed(std::vector<Module::Entry> parameters, const std::vector<Tensor>& embeddings,
                                   const std::string& which) {
  if (which == "all") return parameters;
  for (auto& [name, tensor, kept] : parameters) {
    const auto& parameter = tensor;
    const bool embeds =
        std::any_of(embeddings.begin(), embeddings.end(), [&](const auto& one) { return one.is_same(parameter); });
    if (embeds || parameter.dim() < 2 || name.ends_with("bias")) kept.decay = false;
  }
  return parameters;
}

Optimizer::Optimizer(const Weights& weights, int like_weights, int scalars) : precision_(weights.precision) {
  const NoGradGuard no_grad;
  for (const auto& entry : weights.parameters) {
    // master is the parameter itself if it already has the stored type.
    trained_.push_back({entry.tensor, entry.tensor.to(precision_.stored), entry.kept.decay, {}});
    auto& [parameter, master, decay, tensors] = trained_.back();
    for (int i = 0; i < like_weights; ++i) tensors.push_back(at::zeros_like(master));
    for (int i = 0; i < scalars; ++i) tensors.push_back(at::zeros({}, master.options()));
  }
}

void Optimizer::zero_grad() {
  for (auto& one : trained_) one.parameter.mutable_grad().reset();
}

void Optimizer::clip(double largest) {
  if (largest <= 0) return;
  std::vector<Tensor> gradients, norms;
  for (const auto& one : trained_)
    if (one.parameter.grad().defined()) {
      gradients.push_back(one.parameter.grad().detach());
      norms.push_back(unscaled(gradients.back(), gradients.back().scalar_type()).norm(2));
    }
  if (gradients.empty()) return;
  // Same as in torch's clip_grad_norm_.
  constexpr double kLeast = 1e-6;
  const auto norm = norms.size() == 1 ? norms.front() : at::stack(norms).norm(2);
  const auto factor = (largest / (norm + kLeast)).clamp_max(1.0);
  for (auto& gradient : gradients) gradient.mul_(factor);
}

Tensor Optimizer::unscaled(const Tensor& gradient, c10::ScalarType type) const {
  // The sum of squares of scaled gradients may overflow the gradients' type.
  return precision_.loss_scale == 1 ? gradient.to(type) : gradient.to(precision_.stored) / precision_.loss_scale;
}

void Optimizer::keep_rate_on(c10::Device device) { rate_ = at::zeros({}, TensorOptions(device).dtype(at::kFloat)); }

void Optimizer::set_rate(double learning_rate, double cycle) {
  learning_rate_ = learning_rate, cycle_ = cycle;
  if (rate_.defined()) rate_.fill_(learning_rate);
}

std::string Optimizer::host_numbers() const {
  return precision_.loss_scale == 1 ? "" : "steps whose gradients overflow are skipped";
}

bool Optimizer::has_overflowed() const {
  if (precision_.loss_scale == 1) return false;
  std::vector<Tensor> finite;
  for (const auto& one : trained_)
    if (const auto gradient = one.parameter.grad(); gradient.defined()) finite.push_back(gradient.isfinite().all());
  return !finite.empty() && !at::stack(finite).all().item<bool>();
}

void Optimizer::step() {
  const NoGradGuard no_grad;
  skipped_ = has_overflowed() ? skipped_ + 1 : 0;
  if (skipped_ >= kMostSkipped)
    throw Error(
        fmt::format("the gradients of {} steps, one after the other, overflow at a loss scale of {:g}; expected a smaller "
                    "scale",
                    skipped_, precision_.loss_scale));
  if (skipped_ > 0) return;
  for (const bool decay : {true, false}) {
    Step step{.learning_rate = learning_rate_,
              .cycle = cycle_,
              .rate = rate_,
              .decay = decay,
              .weights = {},
              .gradients = {},
              .tensors = {}};
    for (const auto& one : trained_) {
      if (one.decay != decay || !one.parameter.grad().defined()) continue;
      step.weights.push_back(one.master);
      step.gradients.push_back(unscaled(one.parameter.grad(), precision_.stored));
      step.tensors.resize(one.tensors.size());
      for (std::size_t i = 0; i < one.tensors.size(); ++i) step.tensors[i].push_back(one.tensors[i]);
    }
    if (!step.weights.empty()) do_step(step);
  }
  for (auto& one : trained_)
    if (!one.master.is_same(one.parameter)) one.parameter.copy_(one.master);
}

std::vector<Tensor> Optimizer::state() const {
  std::vector<Tensor> all;
  for (const auto& one : trained_) {
    all.push_back(one.master);
    all.insert(all.end(), one.tensors.begin(), one.tensors.end());
  }
  return all;
}

std::unique_ptr<Optimizer> make_optimizer(const Weights& weights, const TrainSpec& train) {
  return file_of_choice(kOptimizers, optimizers::kFiles, train.optimizer)(weights, train);
}

}  // namespace ablate
