// What predictors of a few lines get on the examples that trials are tested on: floors, below which a model has learned nothing
// that counting does not tell. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ablate/task.h"
#include "core/records/example_rows.h"
#include "core/records/metric.h"

namespace ablate {

struct Floor {
  std::string name;          ///< of the predictor: "counts"
  std::string how;           ///< what dev chose: "order 3"; "" where there is nothing to choose
  double value;              ///< of the metric
  std::int64_t trained = 0;  ///< examples of the training split that it saw; of a stream positions
  std::string others = {};   ///< what those get that dev did not choose: "order 1: 5.083, order 2: 3.916"
};

struct Floors {
  MetricInfo metric;                  ///< by which the task's trials are judged: "test/accuracy"
  std::int64_t examples = 0;          ///< of the test split that were asked; of a stream positions
  std::int64_t train_size = 0;        ///< examples of the training split; of a stream positions
  std::int64_t seen = 0;              ///< of them those that rows train on, and predictors at most
  std::vector<Floor> all;             ///< in the order of the list
  std::vector<std::string> left_out;  ///< predictors whose turn came when the time was over
};

/// Each predictor that concerns the task, trained on train, with its choices made on dev, scored on the test examples that a
/// trial is asked. The same for the same data on every machine that ends in time: predictors are limited by work, not by time.
/// @param task loaded
/// @param rows of test as EvaluationPlan reads them, of train those that a trial of seed 1 has read once its steps are done
/// @param seconds of processor time, after three quarters of which no further predictor begins
/// Throws Error where a split has no target, or a target is none of the task's classes.
Floors find_floors(const Task& task, const TaskInfo& info, const ExampleRows& rows, double seconds);

}  // namespace ablate
