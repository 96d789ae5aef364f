// What every job's process would do for itself otherwise.
#pragma once

namespace ablate {

/// In the worker, before its first fork: a model's usual operations on a few numbers, without plugin code, so that libraries
/// know the processor, and functions are found, in all jobs. Makes no thread, and draws no random number. One thread.
void warm_up();

}  // namespace ablate
