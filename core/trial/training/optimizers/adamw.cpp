// AdamW (Loshchilov and Hutter 2019) in one call of torch's fused kernel. torch::optim::AdamW makes ten calls per parameter.
#include <ATen/ops/_fused_adamw.h>

#include "core/trial/training/optimizer.h"

namespace ablate {
namespace {

class AdamW final : public Optimizer {
 public:
  /// Stores for each weight: averages of the gradient and of its square, and the count of steps.
  AdamW(const Weights& weights, const TrainSpec& train)
      : Optimizer(weights, 2, 1),
        beta1_(train.own.at("beta1")),
        beta1_low_(train.own.at("beta1_low")),
        beta2_(train.own.at("beta2")),
        epsilon_(train.own.at("epsilon")),
        weight_decay_(train.weight_decay) {}

  std::string host_numbers() const override {
    return beta1_low_ > 0 ? "train.beta1_low changes beta1 from step to step" : Optimizer::host_numbers();
  }

 private:
  void do_step(Step& step) override {
    auto &average = step.tensors[0], &square = step.tensors[1], &count = step.tensors[2];
    for (auto& one : count) one.add_(1);
    const auto beta1 = beta1_low_ > 0 ? beta1_ - (beta1_ - beta1_low_) * step.cycle : beta1_;
    const auto take = [&](const auto& rate) {
      at::_fused_adamw_(step.weights, step.gradients, average, square, {}, count, rate, beta1, beta2_,
                        step.decay ? weight_decay_ : 0, epsilon_, /*amsgrad=*/false, /*maximize=*/false);
    };
    step.rate.defined() ? take(step.rate) : take(step.learning_rate);
  }

  double beta1_, beta1_low_, beta2_, epsilon_, weight_decay_;
};

}  // namespace

std::unique_ptr<Optimizer> optimizers::adamw(const Weights& weights, const TrainSpec& train) {
  return std::make_unique<AdamW>(weights, train);
}

}  // namespace ablate
