// A training: it steps, evaluates, saves and loads.
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

/// Numbers, and copies of tensors as plain bytes: snapshots do not change the peak memory of tensors (device.h).
class Snapshot {
 public:
  /// Stores the tensors' values in place of the earlier copies.
  void keep(const std::vector<at::Tensor>& tensors);
  /// Copies the values back into the same tensors, or into tensors of an object made in the same way. Throws c10::Error if
  /// their number or a shape differs.
  void restore(const std::vector<at::Tensor>& tensors) const;
  /// Returns new CPU tensors with the stored values.
  std::vector<at::Tensor> tensors() const;

  /// Returns the stored values in place. The views are valid as long as the values are stored.
  std::vector<at::Tensor> views() const;

  bool empty() const { return copies_.empty(); }

  nlohmann::json numbers;  ///< values that are no tensors

 private:
  struct Copy {
    std::shared_ptr<std::byte[]> bytes;  ///< shared by copies of a snapshot; never changed
    std::vector<std::int64_t> sizes;
    at::ScalarType type;

    at::Tensor view() const;
  };

  std::vector<Copy> copies_;
};

struct TrialParts {
  TrialSpec trial;
  Task& task;  ///< loaded
  FindPlugin find;
};

/// State of a training between two steps, in the host's memory. A training that resumes from it gives the same bits.
struct TrainingState {
  Snapshot training;  ///< model, optimiser, generators, states of lanes, and all numbers
  Snapshot best;      ///< tensors of the best weights
};

/// Model, optimiser, data order, lanes and their states, generators, best weights, curves, observers. Used by one thread
/// that runs no other trial: a Training seeds torch's generators, and sets the precision of products while it lives.
class Training {
 public:
  /// Throws Error if a plugin does not promise what the trial requires. The device must be opened.
  Training(const TrialParts& parts, c10::Device device);
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  /// Takes one optimiser step. Returns the training loss without auxiliary losses, or nullopt if no batch had a target, so that
  /// nothing was learned. Throws Error for a loss that is not finite.
  std::optional<double> step();
  std::int64_t steps_done() const { return done_; }

  Evaluation evaluate(Split split);
  /// @param goes_on called after each batch of an evaluation
  void when_evaluating(std::function<void()> goes_on) { goes_on_ = std::move(goes_on); }
  /// Evaluates the dev split after a step. Adds the scores to the curves, and stores the weights if they are the best.
  void evaluate_dev();

  /// Dev evaluation whose first metric is best; the earliest if several are equal. Its metrics are empty before any evaluation.
  const Evaluation& best() const { return best_; }
  double latest_dev() const { return latest_dev_; }  ///< the first metric of the last dev evaluation
  std::int64_t best_step() const { return best_step_; }
  void restore_best() { best_tensors_.restore(model_tensors()); }

  TrainingState save() const;
  /// Loads a state into a training made from the same parts.
  void load(const TrainingState& state);

  /// Replays steps from now on if the device can record them (train.graphs). Call it before the first step.
  /// @param why_none reason that there is no recorder
  void replay_steps(std::unique_ptr<WorkRecorder> recorder, const std::string& why_none = "");
  /// Number of replayed steps, in all processes.
  std::int64_t steps_replayed() const { return replayed_before_ + (graphs_ ? graphs_->replayed() : 0); }
  /// Number of replayed steps that no comparison has followed (StepGraphs::uncompared).
  std::int64_t steps_uncompared() const { return uncompared_before_ + (graphs_ ? graphs_->uncompared() : 0); }
  /// Reason that steps are not replayed; "" if there is none.
  const std::string& why_not_replayed() const;

  /// Returns the observers' metrics, after at least one step.
  std::vector<Scored> observed() const;

  Curve& curve() { return curve_; }
  const Model& model() const { return *model_; }
  const TaskInfo& info() const { return info_; }

 private:
  Batch next_batch();
  /// Runs a step's parts: a forward and a backward pass for each batch, then the optimiser's step (StepWork::run).
  std::optional<double> take(const std::vector<Batch>& batches, const Perform& perform, LossPasses* stored);
  /// Runs the forward pass. Returns nullopt for a batch without targets.
  std::optional<LossPass> pass(const Batch& batch);
  double finite_loss(const LossPass& pass) const;
  /// Adds a dev evaluation to the curves, and stores the weights if they are the best.
  void keep_if_best(Evaluation dev);
  std::vector<Tensor> model_tensors() const;
  /// Returns the generators of the device and of the CPU. If the device is the CPU, returns one generator.
  std::vector<Generator> generators() const;
  template <class Act>
  void notify_observers(const Act& act) {
    for (const auto& [name, observer] : observers_) act(*observer);
  }

  const TrialParts& parts_;
  TaskInfo info_;
  c10::Device device_;
  BatchReader reader_;
  std::int64_t train_length_ = 0;  ///< length of training rows
  std::unique_ptr<TrialObjective> objective_;
  const Schedule& schedule_;
  const Precision precision_;
  const Products products_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Order> order_;
  Generator generator_;
  ModelState state_;  ///< states of the lanes; empty if no state is carried
  std::vector<std::int64_t> shuffled_;
  std::int64_t done_ = 0, best_step_ = 0;
  double latest_dev_ = 0;
  Evaluation best_;
  Snapshot best_tensors_;
  Curve curve_;
  std::vector<NamedObserver> observers_;
  std::function<void()> goes_on_;
  std::unique_ptr<StepGraphs> graphs_;                        ///< null: all steps are plain
  std::string no_graphs_;                                     ///< reason that steps are plain although train.graphs is set
  std::int64_t replayed_before_ = 0, uncompared_before_ = 0;  ///< in earlier processes
  bool begun_ = false;                                        ///< true after the first step in this process
};

/// Returns the metric "attention/PLUGIN/name", because two plugins may use one name for different metrics.
MetricInfo attention_metric(const Measurement& measured);

}  // namespace ablate
