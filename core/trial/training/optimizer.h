// AdamW over all parameters in one fused call.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace ablate {

/// AdamW (Loshchilov and Hutter 2019): torch's fused kernel, which takes one call where torch::optim::AdamW takes ten a
/// parameter.
class AdamW {
 public:
  struct Options {
    double beta1, beta2, epsilon, weight_decay;
  };

  /// @param parameters trained from now on; those without a gradient in a step are left as they are. Of types with fewer digits
  /// than float32 a float32 copy is kept, trained and rounded.
  AdamW(std::vector<torch::Tensor> parameters, const Options& options);

  void zero_grad();

  /// Scales all gradients so that their joint norm is at most `largest`; nothing where largest is 0.
  void clip(double largest);

  void step(double learning_rate);

 private:
  std::vector<torch::Tensor> parameters_, masters_, average_, square_, count_;
  Options options_;
};

}  // namespace ablate
