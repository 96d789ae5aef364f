// What attentions say of the places that a study gives them, before any trial: they are made, and never called.
#pragma once

#include <string>
#include <vector>

#include "ablate/task.h"
#include "core/shared/trial_spec.h"
#include "core/trial/model/instances.h"

namespace ablate {

struct RefusedPlace {
  std::string
      path;  ///< of the section that refuses: "attention", "attention.1.parts.0"; of the model its setting's: "model.cut"
  std::string why;
};

/// What a trial's model, with its attentions, refuses for the task: shares or heads that do not divide a width (what
/// the factories throw as std::invalid_argument). Each of a list of attentions once, in the first layer that it has; and
/// what model_options refuses. Other faults are the trial's to tell.
std::vector<RefusedPlace> refused_places(const TaskInfo& task, const TrialSpec& trial, const FindPlugin& find);

}  // namespace ablate
