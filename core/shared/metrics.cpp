#include "core/shared/metrics.h"

#include <vector>

namespace ablate {

std::span<const MetricInfo> training_metrics() {
  static const std::vector<MetricInfo> metrics{
      {"dev/best_step", "steps", "", "the step of the best dev checkpoint: the first of the best in the task's first metric"},
      {"train/loss", "", "min",
       "mean training loss over the last window of its curve: each of at most 200 points is the mean since the last one"},
      {"train/forward_time", "ms", "min", "median time of a training step up to its loss: batch and forward pass"},
      {"train/forward_backward_time", "ms", "min", "median time of a training step up to its gradients"},
      {"train/step_time", "ms", "min", "median time of a training step: batch, forward, backward, optimiser"},
      {"train/step_cpu_time", "ms", "min", "median processor time of a training step, all threads of the process together"},
      {"train/step_spread", "%", "",
       "how far steps' times lie apart: the middle half of them over their median, without the first step"},
      {"train/examples_per_second", "examples/s", "max", "batch size over the median step time"},
      {"model/parameters", "", "min", "trained numbers of the whole model"},
      {"memory/peak_tensor", "MiB", "min",
       "most memory that tensors held at once in training steps: weights, optimiser and activations"},
  };
  return metrics;
}

std::span<const MetricInfo> process_metrics() {
  static const std::vector<MetricInfo> metrics{
      {"memory/peak_resident", "MiB", "min", "most resident memory of the trial's process, as the kernel counts it"},
      {"time/cpu", "s", "min", "processor time of the trial's process, user and system"},
      {"time/wall", "s", "min", "time from the start of the trial's process to its end"},
  };
  return metrics;
}

}  // namespace ablate
