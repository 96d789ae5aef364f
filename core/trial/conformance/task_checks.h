// What every task has to keep to, whatever it is about (ablate/task.h).
#pragma once

#include <functional>
#include <memory>

#include "ablate/task.h"
#include "core/trial/conformance/check.h"

namespace ablate {

/// What a task's data_seed is to do: there is none; it makes other examples; or it may make none, as where a parameter names
/// data that are what they are.
enum class SeedPromise { kNone, kOther, kMaybeOther };

/// Makes the task anew. @param other_seed with another data_seed; asked for only where the task has one.
using MakeTask = std::function<std::unique_ptr<Task>(int threads, bool other_seed)>;

/// Makes and loads the task twice, or three times where it has a seed: info, files, sizes, fields, presence and targets,
/// indices outside, streams, disjoint splits, the same examples again whatever the threads, describe, digest, and an untrained
/// model's score. A task that cannot be made or loaded fails "load" alone. @param most examples of a split that are looked at
/// one by one
void check_task(const MakeTask& make, SeedPromise seed, std::int64_t most, Checks& checks);

/// An untrained model knows nothing: on dev and on test even the best of several meets about 1 / classes of the targets, and so
/// does the best answer that is the same for all. For tasks whose targets are told by the share that is met (no unit): the next
/// byte is known in part by its frequency alone.
void check_chance(const Task& task, const TaskInfo& info, Checks& checks);

}  // namespace ablate
