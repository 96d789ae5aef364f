// AdamW over all parameters in one fused call.
#pragma once

#include <cstdint>
#include <vector>

#include "ablate/module.h"

namespace ablate {

/// AdamW (Loshchilov and Hutter 2019): torch's fused kernel, which takes one call where torch::optim::AdamW takes ten a
/// parameter.
class AdamW {
 public:
  struct Options {
    double beta1, beta2, epsilon, weight_decay;
  };

  /// @param parameters trained from now on; those without a gradient in a step are left as they are, those that take no weight
  /// decay (Kept) get none. Of types with fewer digits than float32 a float32 copy is kept, trained and rounded.
  AdamW(const std::vector<Module::Entry>& parameters, const Options& options);

  void zero_grad();

  /// Scales all gradients so that their joint norm is at most `largest`; nothing where largest is 0.
  void clip(double largest);

  void step(double learning_rate) { step(learning_rate, options_.beta1); }
  /// @param beta1 in place of the one it was made with, where that cycles
  void step(double learning_rate, double beta1);

  /// All that it keeps, in place: float32 copies, averages, counts.
  std::vector<Tensor> state() const;

 private:
  struct Trained {
    Tensor parameter, master, average, square, count;
    bool decay;
  };
  void step_those(double learning_rate, double beta1, bool decay);

  std::vector<Trained> trained_;
  Options options_;
};

}  // namespace ablate
