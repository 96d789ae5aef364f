// All that training is: it steps, evaluates, saves and loads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "core/shared/schedules.h"
#include "core/shared/trial_spec.h"
#include "core/trial/training/curve.h"
#include "core/trial/training/evaluation.h"
#include "core/trial/training/observer.h"
#include "core/trial/training/optimizer.h"
#include "core/trial/training/order.h"
#include "core/trial/training/step_graphs.h"

namespace ablate {

/// Tensors and numbers as they were, in the host's own memory. No tensor, so that peak memory (device.h) is that of training,
/// whether and when one was taken.
class Snapshot {
 public:
  /// Keeps the tensors as they are now, in place of what was kept.
  void keep(const std::vector<at::Tensor>& tensors);
  /// Puts them back into the same tensors, or such of another object made alike. Throws c10::Error where their number or a
  /// shape differs.
  void restore(const std::vector<at::Tensor>& tensors) const;
  /// New tensors of what was kept, on the CPU.
  std::vector<at::Tensor> tensors() const;

  /// What is kept, in place: as long as it is kept.
  std::vector<at::Tensor> views() const;

  bool empty() const { return kept_.empty(); }

  nlohmann::json numbers;  ///< what is no tensor

 private:
  struct Kept {
    std::shared_ptr<std::byte[]> bytes;  ///< shared by copies of a snapshot, which nobody changes
    std::vector<std::int64_t> sizes;
    at::ScalarType type;

    at::Tensor view() const;
  };

  std::vector<Kept> kept_;
};

/// What a trial is made of.
struct TrialParts {
  TrialSpec trial;
  Task& task;  ///< loaded
  FindPlugin find;
};

/// A training as it was between two steps, in the host's memory: what goes on from it gives the same bits.
struct TrainingState {
  Snapshot training;  ///< model, optimiser, generators, states of lanes; and what is no tensor
  Snapshot best;      ///< tensors of the best weights
};

/// Model, optimiser, data order, lanes and their states, generators, best weights, curves, observers. One thread, which is a
/// trial's own: it seeds torch's generators, and while it lives products are its precision's.
class Training {
 public:
  /// @param device opened. Throws Error where a plugin does not promise what the trial asks of it.
  Training(const TrialParts& parts, c10::Device device);
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  /// One optimiser step. @return the training loss, without auxiliary losses; nothing where the batch had no target, and
  /// nothing was learned. Throws Error for a loss that is not finite.
  std::optional<double> step();
  std::int64_t steps_done() const { return done_; }

  Evaluation evaluate(Split split);
  /// @param goes_on called after each batch of an evaluation
  void when_evaluating(std::function<void()> goes_on) { goes_on_ = std::move(goes_on); }
  /// On the dev split, after a step: told in the curves, and kept as the best weights where they are.
  void evaluate_dev();

  /// The first dev evaluation whose first metric no later one has bettered; metrics empty before there is one.
  const Evaluation& best() const { return best_; }
  double latest_dev() const { return latest_dev_; }  ///< the first metric of the last dev evaluation
  std::int64_t best_step() const { return best_step_; }
  void restore_best() { best_tensors_.restore(model_tensors()); }

  TrainingState save() const;
  /// Into a training made from the same parts.
  void load(const TrainingState& state);

  /// From now on steps are replayed, where the device can record them (train.graphs). Before the first one. @param why_none
  /// where there is no recorder
  void replay_steps(std::unique_ptr<WorkRecorder> recorder, const std::string& why_none = "");
  /// How many steps were replayed, in all processes.
  std::int64_t steps_replayed() const { return replayed_before_ + (graphs_ ? graphs_->replayed() : 0); }
  /// Of these, those that no comparison has followed (StepGraphs::uncompared).
  std::int64_t steps_uncompared() const { return uncompared_before_ + (graphs_ ? graphs_->uncompared() : 0); }
  /// Why steps are not replayed; "" where nothing keeps them from it.
  const std::string& why_not_replayed() const;

  /// What the observers have measured, after one step at least.
  std::vector<Scored> observed() const;

  Curve& curve() { return curve_; }
  const Model& model() const { return *model_; }
  const TaskInfo& info() const { return info_; }

 private:
  Batch next_batch();
  /// A step's parts: of each batch a forward and a backward pass, then the optimiser's. As StepWork::run.
  std::optional<double> take(const std::vector<Batch>& batches, const Perform& perform, LossPasses* kept);
  /// Forward; nothing of a batch without targets.
  std::optional<LossPass> pass(const Batch& batch);
  double finite_loss(const LossPass& pass) const;
  /// A dev evaluation after a step: told in the curves, kept as the best weights where they are.
  void keep_if_best(Evaluation dev);
  std::vector<Tensor> model_tensors() const;
  /// Of the device, and of the processor where that is another.
  std::vector<Generator> generators() const;
  template <class See>
  void tell_observers(const See& see) {
    for (const auto& [name, observer] : observers_) see(*observer);
  }

  const TrialParts& parts_;
  TaskInfo info_;
  c10::Device device_;
  BatchReader reader_;
  std::int64_t train_length_ = 0;  ///< of rows
  std::unique_ptr<TrialObjective> objective_;
  const Schedule& schedule_;
  const Precision precision_;
  const Products products_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Order> order_;
  Generator generator_;
  ModelState state_;  ///< of the lanes; empty where none is carried
  std::vector<std::int64_t> shuffled_;
  std::int64_t done_ = 0, best_step_ = 0;
  double latest_dev_ = 0;
  Evaluation best_;
  Snapshot best_tensors_;
  Curve curve_;
  std::vector<NamedObserver> observers_;
  std::function<void()> goes_on_;
  std::unique_ptr<StepGraphs> graphs_;                        ///< none: all steps are plain
  std::string no_graphs_;                                     ///< why, where they are asked for
  std::int64_t replayed_before_ = 0, uncompared_before_ = 0;  ///< by the processes before
  bool begun_ = false;                                        ///< observers know that steps are taken in this process
};

/// "attention/PLUGIN/name": two plugins may each mean something else by a name.
MetricInfo attention_metric(const Measurement& measured);

}  // namespace ablate
