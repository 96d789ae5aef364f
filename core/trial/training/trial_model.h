// Initial model of a trial, and its sizes: for trainings, and for counting without a training.
#pragma once

#include <cstdint>
#include <memory>

#include "core/shared/trial_spec.h"
#include "core/trial/model/model.h"
#include "core/trial/objectives/objective.h"

namespace ablate {

/// Throws RefusedModel if a value does not fit.
ModelOptions trial_options(const TaskInfo& info, const TrialSpec& trial);

/// Makes the model on the CPU, in float32, with weights drawn by the trial's seed. Throws what the plugins' factories throw.
/// @param options trial_options()
std::shared_ptr<Model> make_trial_model(const ModelOptions& options, const TrialSpec& trial, const TrialObjective& objective,
                                        const FindPlugin& find);

/// Returns how many numbers the model trains.
std::int64_t parameter_count(const Model& model);

/// Returns the bytes of state of one lane, all layers together.
std::int64_t state_bytes_of(const ModelState& state);

struct TrialSizes {
  std::int64_t parameters, state_bytes;
};

/// Returns the sizes of the model as it would be trained, computed on the CPU. A state's tensors keep their sizes from segment
/// to segment. The trial's threads, device and batch have no effect. Throws RefusedModel, or what factories throw.
TrialSizes sizes_of(const TaskInfo& info, const TrialSpec& trial, const FindPlugin& find);

}  // namespace ablate
