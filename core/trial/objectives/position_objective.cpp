// A class at each position that has a target: next token, answer, or label of a token. Other positions get no logits.
#include "core/trial/objectives/objective.h"

namespace ablate {
namespace {

class PositionHead final : public Head {
 public:
  PositionHead(const ModelOptions& options, const Tensor& table, const Generator& generator)
      : Head(options, options.d_model, table, generator) {}

 private:
  Tensor gather(const Tensor& hidden, const Tensor&, const Batch& batch) const override {
    const auto rows = hidden.flatten(0, 1);
    // Copies nothing if all positions have a target.
    return batch.asked.size(0) == rows.size(0) ? rows : rows.index_select(0, batch.asked);
  }
};

}  // namespace

std::unique_ptr<TrialObjective> position_objective(const TaskInfo& info) {
  return std::make_unique<ObjectiveOf<PositionHead>>(info.unit);
}

}  // namespace ablate
