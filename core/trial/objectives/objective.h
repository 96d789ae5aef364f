// What is asked of a model: the head on top of it, the loss, and the scores. An objective is a file, and the line that names it
// (core/shared/objectives.h).
#pragma once

#include <memory>
#include <vector>

#include "core/trial/model/model.h"
#include "core/trial/objectives/scores.h"

namespace ablate {

/// What an Objective (task.h) comes to. Stateless; one thread.
class TrialObjective {
 public:
  virtual ~TrialObjective() = default;

  virtual std::shared_ptr<Head> make_head(const ModelOptions& options, const Tensor& table,
                                          const Generator& generator) const = 0;

  /// The mean cross-entropy over the batch's targets, of which there is one at least, with its graph.
  virtual Tensor loss(const Logits& logits, const Batch& batch) const { return logits.mean_loss(batch.targets); }

  /// Adds a batch's targets up, by slice too. @param answers with losses one by one where there are slices @param names of
  /// TaskInfo::slices
  virtual void score(const Answers& answers, const Batch& batch, const std::vector<std::string>& names,
                     Scores& scores) const = 0;

  /// The first one selects the best weights; it has a direction.
  virtual std::vector<Scored> metrics(const Score& score) const = 0;
};

/// The one that a task asks for.
std::unique_ptr<TrialObjective> make_objective(const TaskInfo& info);

/// Each objective's, in its own file.
#define ABLATE_OBJECTIVE(enumerator, file, ...) std::unique_ptr<TrialObjective> file(const TaskInfo& info);
ABLATE_OBJECTIVES(ABLATE_OBJECTIVE)
#undef ABLATE_OBJECTIVE

/// Of targets with their examples: adds them to all, and to the slices of their examples. @param example of each target, rising
void add_targets(const Answers& answers, const Batch& batch, const Tensor& example, const std::vector<std::string>& names,
                 Scores& scores);

/// [targets]: which of the batch's examples each target of one a position belongs to.
Tensor example_of_targets(const Batch& batch);

/// Targets at positions under a head of their own: scores by example. Of a unit: bits per unit ("word": a perplexity); without
/// one: accuracy, and the share of sequences whose targets are all met.
class SequenceObjective : public TrialObjective {
 public:
  explicit SequenceObjective(std::string unit) : unit_(std::move(unit)) {}
  void score(const Answers& answers, const Batch& batch, const std::vector<std::string>& names, Scores& scores) const final;
  std::vector<Scored> metrics(const Score& score) const final;

 private:
  std::string unit_;
};

/// One whose head is of this class.
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
