// A model's scores on a split.
#pragma once

#include <functional>
#include <vector>

#include "core/trial/objectives/objective.h"
#include "core/trial/training/batches.h"

namespace ablate {

struct Evaluation {
  std::vector<Scored> metrics;            ///< the objective's, the first of which selects
  std::vector<Scored> sliced;             ///< those of each group: "accuracy@pairs=8"
  std::vector<Measurement> measurements;  ///< the attentions', each over the targets of the batches that reported it
  double loss = 0;                        ///< mean cross-entropy
};

/// How much of a split is read, and how.
struct EvaluationPlan {
  Split split;
  std::int64_t batch = 1;    ///< rows at a time; of a stream with state: lanes
  std::int64_t batches = 0;  ///< batches x batch examples, a sample of the split, or a stream's first segments; 0: all of it
  std::int64_t stride = 0;   ///< of a stream without state: positions that a window moves, all of its context before them
  std::function<void()> goes_on = {};  ///< called after each batch; may be empty
};

/// Examples one by one; a stream by segments with state, in lanes with empty states of their own, or, where the model carries
/// none, by a sliding window. Draws nothing. Throws Error for a split without targets, and for a loss that is not finite.
Evaluation evaluate(Model& model, const TrialObjective& objective, const BatchReader& reader, const Task& task,
                    const TaskInfo& info, const EvaluationPlan& plan, const Generator& generator);

/// Rows of `state` that begin anew get initial_state's.
void reset_rows(ModelState& state, const ModelState& initial, const std::vector<std::uint8_t>& starts);

}  // namespace ablate
