// Stochastic gradient descent with momentum, as in torch.optim.SGD, by torch's fused kernel. The update is the learning rate
// times a decaying sum of gradients. Weight decay is a part of the gradient.
#include <ATen/ops/_fused_sgd.h>

#include "core/trial/training/optimizer.h"

namespace ablate {
namespace {

class Sgd final : public Optimizer {
 public:
  /// Stores for each weight the sum of gradients, if there is momentum.
  Sgd(const Weights& weights, const TrainSpec& train)
      : Optimizer(weights, train.own.at("momentum") > 0 ? 1 : 0, 0),
        momentum_(train.own.at("momentum")),
        weight_decay_(train.weight_decay) {}

 private:
  void do_step(Step& step) override {
    // With is_first_step = false the sum begins at zero. Without dampening, torch.optim.SGD computes the same numbers.
    const auto take = [&](const auto& rate) {
      at::_fused_sgd_(step.weights, step.gradients, step.tensors.empty() ? std::vector<Tensor>() : step.tensors[0],
                      step.decay ? weight_decay_ : 0, momentum_, rate, /*dampening=*/0, /*nesterov=*/false,
                      /*maximize=*/false, /*is_first_step=*/false);
    };
    step.rate.defined() ? take(step.rate) : take(step.learning_rate);
  }

  double momentum_, weight_decay_;
};

}  // namespace

std::unique_ptr<Optimizer> optimizers::sgd(const Weights& weights, const TrainSpec& train) {
  return std::make_unique<Sgd>(weights, train);
}

}  // namespace ablate
