// What predictors of a few lines get on the examples that trials are tested on: floors, below which a model has learned nothing
// that counting does not tell. Torch-free.
#pragma once

#include "ablate/task.h"
#include "core/shared/floors_job.h"

namespace ablate {

/// Each predictor that concerns the task, trained on train, with its choices made on dev, scored on the test examples that a
/// trial is asked. The same for the same data on every machine that ends in time: predictors are limited by work, not by time.
/// @param task loaded
/// @param rows of test as EvaluationPlan reads them, of train those that a trial of seed 1 has read once its steps are done
/// @param seconds of processor time, after three quarters of which no further predictor begins
/// Throws Error where a split has no target, or a target is none of the task's classes.
FoundFloors find_floors(const Task& task, const TaskInfo& info, const ExampleRows& rows, double seconds);

}  // namespace ablate
