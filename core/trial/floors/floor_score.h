// Adds up what a predictor answers, and tells it by the metric that a trial of the task is judged by.
#pragma once

#include "core/trial/floors/predictor.h"
#include "core/trial/objectives/scores.h"

namespace ablate {

class FloorScore {
 public:
  FloorScore(const Task& task, const TaskInfo& info) : task_(task), info_(info) {}
  void add(const Predictor& predictor, const Example& example);
  /// "test/accuracy" or what the task's objective tells first. @param positions that were read. Throws Error where no target
  /// was.
  Scored result(std::int64_t positions) const;

 private:
  const Task& task_;
  const TaskInfo& info_;
  Score score_;
};

}  // namespace ablate
