// Optimisers over all parameters. One is a file, and the line that names it (core/shared/optimizers.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ablate/module.h"
#include "core/shared/optimizers.h"
#include "core/shared/trial_spec.h"
#include "core/trial/training/precision.h"

namespace ablate {

/// A model's parameters for an optimiser. "all": each as its module registered it. "matrices": without decay are also those of
/// less than two dimensions (norms, biases), what is named a bias ("content_bias"), and the embeddings: a tied output has the
/// table of one. Tables that a plugin keeps decay, unless it says otherwise (Kept).
/// @param embeddings among the parameters: Model::embeddings
std::vector<Module::Entry> decayed(std::vector<Module::Entry> parameters, const std::vector<Tensor>& embeddings,
                                   const std::string& which);

/// What an optimiser trains.
struct Weights {
  std::vector<Module::Entry> parameters;
  Precision precision;
};

/// Steps of a whole model, whose gradients are of its loss times the precision's loss_scale. One thread.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  void zero_grad();

  /// Scales all gradients so that their joint norm is at most `largest`; nothing where largest is 0.
  void clip(double largest);

  /// From now on the learning rate is a float32 on this device, which a recorded step reads.
  void keep_rate_on(c10::Device device);

  /// What a step takes from the host that changes from step to step, so that none can be recorded; "": nothing.
  virtual std::string host_numbers() const;

  /// Of the steps to come. @param cycle of the schedule's StepRate
  void set_rate(double learning_rate, double cycle);

  /// Parameters without a gradient are left as they are. Nothing changes if a gradient of a scaled loss overflows. Throws Error
  /// for kMostSkipped steps without a change, one after the other.
  void step();
  void step(double learning_rate, double cycle = 0) { set_rate(learning_rate, cycle), step(); }

  static constexpr int kMostSkipped = 100;

  /// All that it keeps, in place: copies of weights (Precision), and what the method keeps of each.
  std::vector<Tensor> state() const;

 protected:
  struct Trained {
    Tensor parameter, master;  ///< master: of the type that is kept, the parameter itself where that is
    bool decay;                ///< takes weight decay (Kept)
    std::vector<Tensor> kept;  ///< by the method
  };

  /// What a step is given: parameters that have a gradient and all take weight decay, or all do not.
  struct Step {
    double learning_rate, cycle;
    Tensor rate;  ///< the learning rate on the device, undefined where it is the host's alone
    bool decay;
    std::vector<Tensor> weights, gradients;  ///< of the type that is kept; weights are changed in place
    std::vector<std::vector<Tensor>> kept;   ///< what is kept first of each weight, what second ...
  };

  /// @param like_weights, scalars how many tensors the method keeps of each weight: of its shape, and then numbers; zeros
  Optimizer(const Weights& weights, int like_weights, int scalars);

 private:
  virtual void do_step(Step& step) = 0;

  bool has_overflowed() const;

  /// A gradient of the loss itself. @param type of it where the loss was not scaled; else of the type that is kept
  Tensor unscaled(const Tensor& gradient, c10::ScalarType type) const;

  Precision precision_;
  std::vector<Trained> trained_;
  double learning_rate_ = 0, cycle_ = 0;
  int skipped_ = 0;  ///< steps since the last one that changed something
  Tensor rate_;
};

/// The one that train.optimizer names. Throws std::invalid_argument for a name that is none of kOptimizers.
std::unique_ptr<Optimizer> make_optimizer(const Weights& weights, const TrainSpec& train);

using MakeOptimizer = std::unique_ptr<Optimizer> (*)(const Weights& weights, const TrainSpec& train);

/// Each optimiser's, in its own file.
namespace optimizers {
#define ABLATE_OPTIMIZER(file, ...) std::unique_ptr<Optimizer> file(const Weights& weights, const TrainSpec& train);
ABLATE_OPTIMIZERS(ABLATE_OPTIMIZER)
#undef ABLATE_OPTIMIZER
inline constexpr MakeOptimizer kFiles[] = {ABLATE_OPTIMIZERS(ABLATE_FILE_OF)};
}  // namespace optimizers

}  // namespace ablate
