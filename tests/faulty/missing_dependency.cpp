// A library that needs libabsent.so, which the loader cannot find.
#include "trivial_task.h"

int from_the_absent_library();

namespace {
[[maybe_unused]] const int needed = from_the_absent_library();
}

ABLATE_TASK(TrivialTask, {.id = "missing-dependency", .version = "1.0.0", .summary = "needs an absent library"})
