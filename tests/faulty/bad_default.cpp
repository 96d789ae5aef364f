// A task with a parameter whose default is outside its range.
#include "trivial_task.h"

namespace {
constexpr ablate::Parameter parameters[] = {ablate::integer("size", "0", {1, 10}, "at least one")};
}

ABLATE_TASK(TrivialTask, {.id = "bad-default", .version = "1.0.0", .summary = "default out of range", .parameters = parameters})
