#include "core/trial/objectives/objective.h"

#include <ATen/ops/arange.h>
#include <c10/core/TensorOptions.h>

#include <cmath>

namespace ablate {

std::unique_ptr<TrialObjective> make_objective(const TaskInfo& info) {
  switch (info.objective) {
#define ABLATE_OBJECTIVE(enumerator, file, ...) \
  case Objective::enumerator:                   \
    return file(info);
    ABLATE_OBJECTIVES(ABLATE_OBJECTIVE)
#undef ABLATE_OBJECTIVE
  }
  throw std::logic_error("an objective that nothing computes");
}

void add_targets(const Answers& answers, const Batch& batch, const Tensor& example, const std::vector<std::string>& names,
                 Scores& scores) {
  const auto right = answers.predicted.eq(batch.targets);
  auto& all = scores[""];
  all.targets += static_cast<double>(batch.targets.size(0));
  all.loss += answers.loss;
  all.right += right.sum().item<double>();
  // For each example: the number of its targets, the number of correct answers, and the sum of the targets' losses.
  const auto options = right.options().dtype(at::kDouble);
  const auto of_example = [&](const Tensor& value) {
    return zeros({batch.size}, options).index_add(0, example, value.to(at::kDouble)).cpu();
  };
  const auto targets = of_example(ones({batch.targets.size(0)}, options)), met = of_example(right);
  const auto has = targets > 0, whole = has.logical_and(met == targets);
  all.sequences += has.sum().item<double>();
  all.all_right += whole.sum().item<double>();
  if (names.empty()) return;
  const auto loss = of_example(answers.losses);
  const auto *const asked = targets.const_data_ptr<double>(), *const right_ones = met.const_data_ptr<double>(),
                    *const losses = loss.const_data_ptr<double>();
  for (std::size_t i = 0; i < batch.slices.size(); ++i)
    for (std::size_t s = 0; s < names.size(); ++s) {
      if (asked[i] == 0) continue;
      auto& group = scores[names[s] + "=" + std::to_string(batch.slices[i][s])];
      group.targets += asked[i];
      group.right += right_ones[i];
      group.loss += losses[i];
      group.sequences += 1;
      group.all_right += right_ones[i] == asked[i] ? 1 : 0;
    }
}

Tensor example_of_targets(const Batch& batch) { return batch.asked.floor_divide(batch.fields.front().size(1)); }

void SequenceObjective::score(const Answers& answers, const Batch& batch, const std::vector<std::string>& names,
                              Scores& scores) const {
  add_targets(answers, batch, example_of_targets(batch), names, scores);
}

std::vector<Scored> SequenceObjective::metrics(const Score& score) const {
  const double nats = score.loss / score.targets;
  if (unit_ == "word") return {{objective_metric("perplexity"), std::exp(nats)}, mean_loss(score), accuracy(score)};
  if (!unit_.empty()) return {{objective_metric("bits_per_" + unit_), nats / std::log(2.0)}, mean_loss(score), accuracy(score)};
  return {
      accuracy(score), {objective_metric("sequence_accuracy"), 100.0 * score.all_right / score.sequences}, mean_loss(score)};
}

Scored mean_loss(const Score& score) { return {objective_metric("loss"), score.loss / score.targets}; }

Scored accuracy(const Score& score) { return {objective_metric("accuracy"), 100.0 * score.right / score.targets}; }

}  // namespace ablate
