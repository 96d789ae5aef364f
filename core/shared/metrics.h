// The metrics that every trial yields: name, unit, direction. Torch-free.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace ablate {

struct MetricInfo {
  std::string name;         ///< domain/name
  std::string unit;         ///< "" for a plain number
  std::string direction;    ///< "max", "min" or ""
  std::string description;  ///< one line
  bool operator==(const MetricInfo&) const = default;
};

/// Of a task's targets, by the objective: without the split in front ("accuracy"; a trial has dev/accuracy and test/accuracy).
/// "bits_per_X" for any unit X. Throws std::logic_error for a name that no objective has.
MetricInfo objective_metric(const std::string& name);
/// Names that a published number may have: "test/accuracy", ...
std::vector<std::string> objective_metric_names();

/// Of the training loop. The scheduler adds process_metrics.
std::span<const MetricInfo> training_metrics();

/// Measured from outside by the worker's parent: CPU time, wall time, resident memory.
std::span<const MetricInfo> process_metrics();

/// Whether it is a time or a memory that the host measured: never the same twice, unlike a task's own metric in seconds.
bool is_measured(const std::string& name);

}  // namespace ablate
