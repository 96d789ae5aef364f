#include "core/shared/metrics.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ablate {
namespace {

constexpr std::string_view kBits = "bits_per_";
constexpr bool kOfSteps = true;

MetricInfo cost(std::string name, std::string unit, std::string direction, std::string description, bool of_steps = false) {
  return {std::move(name),    std::move(unit), std::move(direction), std::move(description), MetricKind::kCost,
          MetricOwner::kHost, of_steps};
}

MetricInfo count(std::string name, std::string unit, std::string direction, std::string description) {
  return {std::move(name),        std::move(unit),    std::move(direction),
          std::move(description), MetricKind::kCount, MetricOwner::kHost};
}

/// Computed by the task's objective.
MetricInfo score(std::string name, std::string unit, std::string direction, std::string description) {
  return {std::move(name),        std::move(unit),    std::move(direction),
          std::move(description), MetricKind::kScore, MetricOwner::kTask};
}

const std::vector<MetricInfo>& objective_metrics() {
  static const std::vector<MetricInfo> metrics{
      score("accuracy", "%", "max", "share of targets predicted correctly"),
      score("sequence_accuracy", "%", "max", "share of sequences with all targets predicted correctly"),
      score("loss", "", "min", "mean cross-entropy of the targets, in nats"),
      score("perplexity", "", "min", "exponential of the mean cross-entropy of a word"),
      score("bits_per_byte", "bit", "min", "mean cross-entropy of a byte, in bits"),
      score("bits_per_dimension", "bit", "min", "mean cross-entropy of a dimension, in bits"),
  };
  return metrics;
}

}  // namespace

MetricInfo objective_metric(const std::string& name) {
  const auto& all = objective_metrics();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& metric) { return metric.name == name; });
  if (found != all.end()) return *found;
  if (!name.starts_with(kBits)) throw std::logic_error("no objective has a metric " + name);
  return score(name, "bit", "min", "mean cross-entropy of a " + name.substr(kBits.size()) + ", in bits");
}

std::vector<std::string> objective_metric_names() {
  std::vector<std::string> names;
  for (const char* split : {"test/", "dev/", "test_last/"})
    for (const auto& metric : objective_metrics()) names.push_back(split + metric.name);
  return names;
}

std::span<const MetricInfo> training_metrics() {
  static const std::vector<MetricInfo> metrics{
      count("dev/best_step", "steps", "",
            "step of the best weights: the first step with the best dev result in the task's first metric"),
      score("train/loss", "", "min",
            "mean training loss over the last window of its curve; a curve has at most 200 points, and each is the mean since "
            "the point before it"),
      cost("train/forward_time", "ms", "min", "median time of a training step up to its loss: batch and forward pass",
           kOfSteps),
      cost("train/forward_backward_time", "ms", "min", "median time of a training step up to its gradients", kOfSteps),
      cost("train/step_time", "ms", "min", "median time of a training step: batch, forward, backward, optimiser", kOfSteps),
      cost("train/step_cpu_time", "ms", "min", "median processor time of a training step, all threads of the process together",
           kOfSteps),
      cost("train/step_spread", "%", "",
           "spread of the step times: their interquartile range over their median, without the first step"),
      cost("train/examples_per_second", "examples/s", "max", "batch size over the median step time", kOfSteps),
      count("train/replayed_steps", "steps", "",
            "training steps that were replayed from CUDA graphs; only of trials with train.graphs = true"),
      count("model/parameters", "", "min", "trained numbers of the whole model"),
      cost("memory/peak_tensor", "MiB", "min", "peak memory of tensors in training steps: weights, optimiser and activations"),
      cost("memory/state", "MiB", "min",
           "state of one sequence that all layers together carry from a segment to the next, at the end of training; only of "
           "models with a state"),
  };
  return metrics;
}

std::span<const MetricInfo> process_metrics() {
  static const std::vector<MetricInfo> metrics{
      cost("memory/peak_resident", "MiB", "min", "peak resident memory of the trial's process, as the kernel counts it"),
      cost("time/cpu", "s", "min", "processor time of the trial's process, user and system"),
      cost("time/wall", "s", "min", "time from the start of the trial's process to its end"),
  };
  return metrics;
}

std::vector<MetricInfo> house_metrics() {
  std::vector<MetricInfo> all;
  for (const auto& name : objective_metric_names()) {
    all.push_back(objective_metric(name.substr(name.find('/') + 1)));
    all.back().name = name;
  }
  for (const auto& metrics : {training_metrics(), process_metrics()}) all.insert(all.end(), metrics.begin(), metrics.end());
  return all;
}

}  // namespace ablate
