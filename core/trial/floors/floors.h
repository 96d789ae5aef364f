// Scores of simple predictors on the test examples of trials: floors, which a model must exceed to beat counting. Torch-free.
#pragma once

#include "ablate/task.h"
#include "core/shared/floors_job.h"

namespace ablate {

/// Trains each suitable predictor on the training split, selects its settings on dev, and scores it on a trial's test examples.
/// Every machine that finishes in time finds the same floors, because a predictor's work is limited by counts and not by time.
/// Throws Error if a split has no target, or if a target is not one of the task's classes.
/// @param task loaded
/// @param rows test: size of the sample that trials are tested on; train: examples that a trial of seed 1 reads in training
/// @param seconds limit of processor time; no further predictor begins after three quarters of it
FoundFloors find_floors(const Task& task, const TaskInfo& info, const ExampleRows& rows, double seconds);

}  // namespace ablate
