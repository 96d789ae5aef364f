// Main function of ablate-worker and ablate-checker: a process with torch that does jobs for ablate.
#pragma once

#include "core/trial/server/jobs.h"

namespace ablate {

/// Runs a model's usual operations on a few numbers before the worker's first fork, without plugin code. In the jobs, libraries
/// then need not detect the processor or look up functions. Makes no thread, draws no random number. For one thread only.
void warm_up();

/// Serves over standard input and output until the input ends. Returns the exit code of the process.
/// @param more jobs beside the jobs of a study
int serve_ablate(int count, char** arguments, const std::vector<NamedHandler>& more = {});

}  // namespace ablate
