// Throws from a static constructor: std::terminate while it is loaded.
#include <stdexcept>

#include "trivial_task.h"

namespace {
[[maybe_unused]] const int thrown = []() -> int { throw std::runtime_error("thrown while loading"); }();
}

ABLATE_TASK(TrivialTask, {.id = "throw-on-load", .version = "1.0.0", .summary = "throws while loading"})
