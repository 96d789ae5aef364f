// Optimisers over all parameters. One is a file, and the line that names it (core/shared/optimizers.h).
#pragma once

#include <memory>
#include <vector>

#include "ablate/module.h"
#include "core/shared/optimizers.h"
#include "core/shared/trial_spec.h"

namespace ablate {

/// Steps of a whole model. Of types with fewer digits than float32 a float32 copy is kept, trained and rounded: steps of a
/// small learning rate would be lost in them. One thread.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  void zero_grad();

  /// Scales all gradients so that their joint norm is at most `largest`; nothing where largest is 0.
  void clip(double largest);

  /// Parameters without a gradient are left as they are. @param cycle of the schedule's Pace
  void step(double learning_rate, double cycle = 0);

  /// All that it keeps, in place: float32 copies, and what the method keeps of each.
  std::vector<Tensor> state() const;

 protected:
  struct Trained {
    Tensor parameter, master;  ///< master: float32, the parameter itself where that is
    bool decay;                ///< takes weight decay (Kept)
    std::vector<Tensor> kept;  ///< by the method
  };

  /// What a step is given: parameters that have a gradient and all take weight decay, or all do not.
  struct Step {
    double learning_rate, cycle;
    bool decay;
    std::vector<Tensor> weights, gradients;  ///< float32; weights are changed in place
    std::vector<std::vector<Tensor>> kept;   ///< what is kept first of each weight, what second ...
  };

  /// @param like_weights, scalars how many tensors the method keeps of each weight: of its shape, and then numbers; zeros
  Optimizer(const std::vector<Module::Entry>& parameters, int like_weights, int scalars);

 private:
  virtual void do_step(Step& step) = 0;

  std::vector<Trained> trained_;
};

/// The one that train.optimizer names. Throws std::invalid_argument for a name that is none of kOptimizers.
std::unique_ptr<Optimizer> make_optimizer(const std::vector<Module::Entry>& parameters, const TrainSpec& train);

/// Each optimiser's, in its own file.
namespace optimizers {
#define ABLATE_OPTIMIZER(file, ...) \
  std::unique_ptr<Optimizer> file(const std::vector<Module::Entry>& parameters, const TrainSpec& train);
ABLATE_OPTIMIZERS(ABLATE_OPTIMIZER)
#undef ABLATE_OPTIMIZER
}  // namespace optimizers

}  // namespace ablate
