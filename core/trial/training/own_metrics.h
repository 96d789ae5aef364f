// What a task makes of the answers to its examples.
#pragma once

#include <map>

#include "ablate/task.h"
#include "core/trial/model/batch.h"
#include "core/trial/objectives/scores.h"

namespace ablate {

/// Sums of Task::judge over an evaluation.
class OwnMetrics {
 public:
  OwnMetrics(const Task& task, const TaskInfo& info) : task_(task), info_(info) {}

  bool none() const { return info_.metrics.empty(); }
  /// @param predicted [targets] the likeliest classes, in the order of Batch::targets
  void add(Split split, std::span<const std::int64_t> indices, const Batch& batch, const at::Tensor& predicted);
  /// Of all examples (""), or of a group of them as in Scores; nothing where it has none. Throws Error
  /// where their sum is more than a double holds.
  std::vector<Scored> of(const std::string& group) const;

 private:
  struct Sum {
    std::vector<double> values;
    double examples = 0;
  };
  void add(const std::string& group, const std::vector<double>& values);

  const Task& task_;
  const TaskInfo& info_;
  std::map<std::string, Sum> sums_;
};

}  // namespace ablate
