// The metrics that every trial yields: name, unit, direction. Torch-free.
#pragma once

#include <span>
#include <string>

namespace ablate {

struct MetricInfo {
  std::string name;         ///< domain/name
  std::string unit;         ///< "" for a plain number
  std::string direction;    ///< "max", "min" or ""
  std::string description;  ///< one line
};

/// Of the training loop. The scheduler adds process_metrics.
std::span<const MetricInfo> training_metrics();

/// Measured from outside by the worker's parent: CPU time, wall time, resident memory.
std::span<const MetricInfo> process_metrics();

}  // namespace ablate
