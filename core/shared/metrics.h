// The metrics that every trial yields. Torch-free.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/records/metric.h"

namespace ablate {

/// Of a task's targets, by the objective: without the split in front ("accuracy"; a trial has dev/accuracy and test/accuracy,
/// and test_last/accuracy where it is asked to test its last weights, too). "bits_per_X" for any unit X. Throws
/// std::logic_error for a name that no objective has.
MetricInfo objective_metric(const std::string& name);
/// Names that a published number may have: "test/accuracy", ...
std::vector<std::string> objective_metric_names();

/// Of the training loop. The scheduler adds process_metrics.
std::span<const MetricInfo> training_metrics();

/// Measured from outside by the worker's parent: CPU time, wall time, resident memory.
std::span<const MetricInfo> process_metrics();

/// All of these; those of the objectives as objective_metric_names has them. Others are a plugin's own, or are over a group of
/// the examples.
std::vector<MetricInfo> house_metrics();

}  // namespace ablate
