// What ablate-worker and ablate-checker are: a process of torch that does jobs for ablate.
#pragma once

#include "core/trial/server/jobs.h"

namespace ablate {

/// In the worker, before its first fork: a model's usual operations on a few numbers, without plugin code, so that libraries
/// know the processor, and functions are found, in all jobs. Makes no thread, and draws no random number. One thread.
void warm_up();

/// Serves over standard input and output until the input ends. @param more jobs beside those of a study @return the
/// process's exit code
int serve_ablate(int count, char** arguments, const std::vector<NamedHandler>& more = {});

}  // namespace ablate
