// The model that a trial's training begins with, and what it has: for trainings, and for who counts without one.
#pragma once

#include <cstdint>
#include <memory>

#include "core/shared/trial_spec.h"
#include "core/trial/model/model.h"
#include "core/trial/objectives/objective.h"

namespace ablate {

/// Throws RefusedModel.
ModelOptions trial_options(const TaskInfo& info, const TrialSpec& trial);

/// On the CPU, in float32, with weights drawn by the trial's seed. Throws what the factories of its plugins do.
/// @param options trial_options()
std::shared_ptr<Model> make_trial_model(const ModelOptions& options, const TrialSpec& trial, const TrialObjective& objective,
                                        const FindPlugin& find);

/// Trained numbers.
std::int64_t parameter_count(const Model& model);

/// Of one lane, all layers together.
std::int64_t state_bytes_of(const ModelState& state);

struct TrialSizes {
  std::int64_t parameters, state_bytes;
};

/// Of the model as it would be trained, but on the CPU. A state's tensors keep their sizes from the first segment to the last.
/// Throws as make_trial_model does. @param trial its threads, device and batch do not count
TrialSizes sizes_of(const TaskInfo& info, const TrialSpec& trial, const FindPlugin& find);

}  // namespace ablate
