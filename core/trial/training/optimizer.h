// Optimisers over all parameters. An optimiser is one file and the line that names it (core/shared/optimizers.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ablate/module.h"
#include "core/shared/optimizers.h"
#include "core/shared/trial_spec.h"
#include "core/trial/training/precision.h"

namespace ablate {

/// Returns a model's parameters. `which` selects the parameters that decay. "all": parameters that their module registered with
/// decay. "matrices": the same, except embeddings (also if tied to the output), parameters with fewer than two dimensions
/// (norms, biases), and names that end in "bias" ("content_bias"). Tables of a plugin decay unless the plugin excludes them
/// (Kept).
/// @param embeddings Model::embeddings, which are among the parameters
std::vector<Module::Entry> decayed(std::vector<Module::Entry> parameters, const std::vector<Tensor>& embeddings,
                                   const std::string& which);

/// Parameters that an optimiser trains.
struct Weights {
  std::vector<Module::Entry> parameters;
  Precision precision;
};

/// Optimiser of a whole model. Gradients belong to the loss times the precision's loss_scale. Used by one thread.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  void zero_grad();

  /// Scales all gradients so that their joint norm is at most `largest`. Does nothing if `largest` is 0.
  void clip(double largest);

  /// Stores the learning rate on this device from now on, as a float32 that a recorded step reads.
  void keep_rate_on(c10::Device device);

  /// Returns the reason that steps cannot be recorded: a number that the host computes and that changes from step to step.
  /// Returns "" if there is no such number.
  virtual std::string host_numbers() const;

  /// Sets the rate of the next steps, and the schedule's StepRate::cycle.
  void set_rate(double learning_rate, double cycle);

  /// Updates the parameters that have a gradient, or none of them if a gradient of a scaled loss overflows. Throws Error after
  /// kMostSkipped consecutive steps without a change.
  void step();
  void step(double learning_rate, double cycle = 0) { set_rate(learning_rate, cycle), step(); }

  static constexpr int kMostSkipped = 100;

  /// Returns all stored tensors, in place: copies of weights (Precision), and the method's tensors for each weight.
  std::vector<Tensor> state() const;

 protected:
  struct Trained {
    Tensor parameter, master;     ///< master has the stored type; it is the parameter itself if the types are equal
    bool decay;                   ///< true if weight decay applies (Kept)
    std::vector<Tensor> tensors;  ///< tensors of the method
  };

  /// Input of a step: parameters that have a gradient, either all with weight decay or all without.
  struct Step {
    double learning_rate, cycle;
    Tensor rate;  ///< the learning rate on the device; undefined if only the host has it
    bool decay;
    std::vector<Tensor> weights, gradients;    ///< in the stored type; a step changes weights in place
    std::vector<std::vector<Tensor>> tensors;  ///< tensors[i] has tensor i of the method for every weight
  };

  /// Makes for each weight `like_weights` tensors of its shape, and `scalars` scalars. All start as zeros.
  Optimizer(const Weights& weights, int like_weights, int scalars);

 private:
  virtual void do_step(Step& step) = 0;

  bool has_overflowed() const;

  /// Returns a gradient of the unscaled loss, in `type` if the loss was not scaled, else in the stored type.
  Tensor unscaled(const Tensor& gradient, c10::ScalarType type) const;

  Precision precision_;
  std::vector<Trained> trained_;
  double learning_rate_ = 0, cycle_ = 0;
  int skipped_ = 0;  ///< consecutive steps that changed nothing
  Tensor rate_;
};

/// Makes the optimiser that train.optimizer names. Throws std::invalid_argument if kOptimizers has no such name.
std::unique_ptr<Optimizer> make_optimizer(const Weights& weights, const TrainSpec& train);

using MakeOptimizer = std::unique_ptr<Optimizer> (*)(const Weights& weights, const TrainSpec& train);

/// Each optimiser's factory, in its own file.
namespace optimizers {
#define ABLATE_OPTIMIZER(file, ...) std::unique_ptr<Optimizer> file(const Weights& weights, const TrainSpec& train);
ABLATE_OPTIMIZERS(ABLATE_OPTIMIZER)
#undef ABLATE_OPTIMIZER
inline constexpr MakeOptimizer kFiles[] = {ABLATE_OPTIMIZERS(ABLATE_FILE_OF)};
}  // namespace optimizers

}  // namespace ablate
