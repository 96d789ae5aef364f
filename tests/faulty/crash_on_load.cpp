// Crashes while it is loaded, before the host has seen a descriptor.
#include <csignal>

#include "trivial_task.h"

namespace {
[[maybe_unused]] const int crash = std::raise(SIGSEGV);
}

ABLATE_TASK(TrivialTask, {.id = "crash-on-load", .version = "1.0.0", .summary = "crashes while loading"})
