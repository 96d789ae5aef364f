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

/// Makes and loads the task twice, or three times where it has a seed: info, sizes, labels, ids and padding, indices outside,
/// disjoint splits, the same examples again whatever the threads, describe, digest, and an untrained model's score. A task that
/// cannot be made or loaded fails "load" alone. @param most examples of a split that are looked at one by one
void check_task(const MakeTask& make, SeedPromise seed, std::int64_t most, Checks& checks);

/// An untrained model knows nothing: on dev and on test even the best of several scores about 1 / classes, and so does the best
/// answer that is the same for all. Also that the batches are a model's food.
void check_chance(Task& task, Checks& checks);

}  // namespace ablate
