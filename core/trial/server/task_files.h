// What the answers about a task share. Torch-free.
#pragma once

#include <map>
#include <string>

#include "ablate/task.h"
#include "core/shared/jobs.h"

namespace ablate {

/// {path: file_stamp}, "" for what is not there. Throws Error for what is there and holds no data: to open a pipe is to wait.
std::map<std::string, std::string> files_of(Task& task);

/// What info() says, without files. Throws Error for what a task may not say of itself: the fault is in the plugin.
DescribedTask described(const TaskInfo& info);

/// Threads for a task that is alone.
int all_cores();

}  // namespace ablate
