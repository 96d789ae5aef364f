// The metrics that every trial yields. Torch-free.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/records/metric.h"

namespace ablate {

/// Returns the definition of an objective's metric, named without its split: "accuracy". A trial has dev/accuracy and
/// test/accuracy, and test_last/accuracy if it also tests its last weights. "bits_per_X" exists for any unit X. Throws
/// std::logic_error for a name that no objective has.
MetricInfo objective_metric(const std::string& name);
/// Returns the names that a published number may have: "test/accuracy", ...
std::vector<std::string> objective_metric_names();

/// Metrics of the training loop. The scheduler adds process_metrics.
std::span<const MetricInfo> training_metrics();

/// Metrics that the worker's parent measures from outside: CPU time, wall time, resident memory.
std::span<const MetricInfo> process_metrics();

/// Returns all metrics of this header. Metrics of objectives have the names of objective_metric_names. A metric outside this
/// list belongs to a plugin, or is computed over a group of the examples.
std::vector<MetricInfo> house_metrics();

}  // namespace ablate
