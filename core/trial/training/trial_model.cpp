#include "core/trial/training/trial_model.h"

#include "core/trial/model/instances.h"
#include "core/trial/training/order.h"
#include "core/trial/training/precision.h"

namespace ablate {

ModelOptions trial_options(const TaskInfo& info, const TrialSpec& trial) {
  auto options = model_options(info, trial.model);
  options.piece = trial.train.loss_piece;
  options.kernels = trial.train.fused() ? kernels::Choice::kFused : kernels::Choice::kReference;
  return options;
}

std::shared_ptr<Model> make_trial_model(const ModelOptions& options, const TrialSpec& trial, const TrialObjective& objective,
                                        const FindPlugin& find) {
  const auto generator = make_generator(seed_of(trial.seed, SeedStream::kWeights));
  const bool carries = options.hands_on() && carries_state(trial.attention, find);
  return std::make_shared<Model>(
      options, trial.attention, carries, find,
      [&](const auto& given, const auto& table, const auto& random) { return objective.make_head(given, table, random); },
      generator);
}

std::int64_t parameter_count(const Model& model) {
  std::int64_t count = 0;
  for (const auto& entry : model.parameters()) count += entry.tensor.numel();
  return count;
}

std::int64_t state_bytes_of(const ModelState& state) {
  std::int64_t bytes = 0;
  for (const auto& layer : state)
    for (const auto& tensor : layer) bytes += static_cast<std::int64_t>(tensor.nbytes()) / tensor.size(0);
  return bytes;
}

TrialSizes sizes_of(const TaskInfo& info, const TrialSpec& trial, const FindPlugin& find) {
  const auto model = make_trial_model(trial_options(info, trial), trial, *make_objective(info), find);
  move_to(*model, c10::Device(c10::kCPU), precision_of(trial.train.dtype, trial.train.own).type);
  return {parameter_count(*model), model->stateful() ? state_bytes_of(model->initial_state(1)) : 0};
}

}  // namespace ablate
