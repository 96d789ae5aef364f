// Objective of a model: the head on top of it, the loss, and the scores. An objective is one file and the line that names it
// (core/shared/objectives.h).
#pragma once

#include <memory>
#include <vector>

#include "core/trial/model/model.h"
#include "core/trial/objectives/scores.h"

namespace ablate {

/// Implementation of an Objective (task.h). Stateless. Used by one thread.
class TrialObjective {
 public:
  virtual ~TrialObjective() = default;

  virtual std::shared_ptr<Head> make_head(const ModelOptions& options, const Tensor& table,
                                          const Generator& generator) const = 0;

  /// Returns the mean cross-entropy over the batch's targets, with its graph. The batch has at least one target.
  virtual Tensor loss(const Logits& logits, const Batch& batch) const { return logits.mean_loss(batch.targets); }

  /// Adds the results of a batch's targets to `scores`: to the total and to the slices.
  /// @param answers with each target's loss if there are slices
  /// @param names names in TaskInfo::slices
  virtual void score(const Answers& answers, const Batch& batch, const std::vector<std::string>& names,
                     Scores& scores) const = 0;

  /// Returns the metrics. The first metric has a direction and selects the best weights.
  virtual std::vector<Scored> metrics(const Score& score) const = 0;
};

/// Returns the objective of a task.
std::unique_ptr<TrialObjective> make_objective(const TaskInfo& info);

/// Each objective's factory, in its own file.
#define ABLATE_OBJECTIVE(enumerator, file, ...) std::unique_ptr<TrialObjective> file(const TaskInfo& info);
ABLATE_OBJECTIVES(ABLATE_OBJECTIVE)
#undef ABLATE_OBJECTIVE

/// Adds targets to the total and to the slices of their examples. `example` has the index of each target's example, ascending.
void add_targets(const Answers& answers, const Batch& batch, const Tensor& example, const std::vector<std::string>& names,
                 Scores& scores);

/// Returns [targets]: for each target at a position, the index of its example in the batch.
Tensor example_of_targets(const Batch& batch);

/// Objective with targets at positions. Subclasses make the head. If there is a unit, the first metric is bits per unit, or
/// perplexity for "word". Without a unit the metrics are accuracy, share of sequences whose targets are all correct, and loss.
class SequenceObjective : public TrialObjective {
 public:
  explicit SequenceObjective(std::string unit) : unit_(std::move(unit)) {}
  void score(const Answers& answers, const Batch& batch, const std::vector<std::string>& names, Scores& scores) const final;
  std::vector<Scored> metrics(const Score& score) const final;

 private:
  std::string unit_;
};

/// Sequence objective whose head is a `Made`.
template <class Made>
class ObjectiveOf final : public SequenceObjective {
 public:
  using SequenceObjective::SequenceObjective;
  std::shared_ptr<Head> make_head(const ModelOptions& options, const Tensor& table, const Generator& generator) const override {
    return std::make_shared<Made>(options, table, generator);
  }
};

/// "loss": the mean cross-entropy, in nats.
Scored mean_loss(const Score& score);
/// "accuracy" in %.
Scored accuracy(const Score& score);

}  // namespace ablate
