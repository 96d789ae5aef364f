// Whether attentions take the places that a study gives them.
#pragma once

#include <vector>

#include "core/host/client/executors.h"
#include "core/host/scheduler/task_memory.h"
#include "core/host/study/study.h"

namespace ablate {

/// Reports every attention, and part of one, that refuses its place in the model: shares or heads that do not divide its width.
/// A worker makes each once for a model and a task; what nobody refused is remembered. Whatever else goes wrong in a plugin's
/// factory is left to the trial, which it costs alone.
/// @param executors of which one is started where somebody has to be asked @param limit_s for all that is asked of the same
/// plugins
std::vector<Diagnostic> check_places(const Study& study, const Catalog& catalog, Executors& executors, const TaskMemory& memory,
                                     double limit_s);

}  // namespace ablate
