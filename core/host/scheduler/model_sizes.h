// What models have before they are trained, asked of a worker: for [grid.match].
#pragma once

#include <vector>

#include "core/host/client/executors.h"
#include "core/host/scheduler/task_memory.h"
#include "core/host/study/study.h"

namespace ablate {

/// As CountSizes has it. The task is made, and its data are not loaded. Remembered as what tasks answer is, so that a study
/// that is done starts no worker. Throws Error. @param limit_s of one answer
std::vector<ModelSizes> model_sizes(const std::vector<Trial>& trials, const Catalog& catalog, Executors& executors,
                                    const TaskMemory& memory, double limit_s);

}  // namespace ablate
