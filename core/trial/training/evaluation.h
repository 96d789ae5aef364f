// Evaluation of a model on a split.
#pragma once

#include <functional>
#include <vector>

#include "core/trial/objectives/objective.h"
#include "core/trial/training/batches.h"

namespace ablate {

struct Evaluation {
  std::vector<Scored> metrics;            ///< from the objective, then from the task; the first selects the best weights
  std::vector<Scored> sliced;             ///< metrics of each group: "accuracy@pairs=8"
  std::vector<Measurement> measurements;  ///< from the attentions; each is a mean over the targets of batches that reported it
  double loss = 0;                        ///< mean cross-entropy
};

/// Plan of an evaluation: how much of a split is read, and how.
struct EvaluationPlan {
  Split split;
  std::int64_t batch = 1;    ///< rows at a time; for a stream with state: lanes
  std::int64_t batches = 0;  ///< reads batches * batch sampled examples, or first segments of a stream; 0: all
  std::int64_t stride = 0;   ///< for a stream without state: positions that each window scores, after its context; 0: all
  std::function<void()> goes_on = {};  ///< called after each batch; may be empty
};

/// Reads examples in batches. Reads a stream by segments in lanes with separate states, or by a sliding window if the model
/// carries no state. Draws no random numbers. Throws Error for a split without targets, and for a loss that is not finite.
Evaluation evaluate(Model& model, const TrialObjective& objective, const BatchReader& reader, const Task& task,
                    const TaskInfo& info, const EvaluationPlan& plan, const Generator& generator);

/// Sets each row of `state` that begins a new text (`starts` is not 0) to the same row of `initial`.
void reset_rows(ModelState& state, const ModelState& initial, const std::vector<std::uint8_t>& starts);

}  // namespace ablate
