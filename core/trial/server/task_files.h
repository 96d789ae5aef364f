// Common functions for answers about a task. Torch-free.
#pragma once

#include <map>
#include <string>

#include "ablate/task.h"
#include "core/shared/jobs.h"

namespace ablate {

/// Returns {path: file_stamp}, "" for a missing file. Throws Error for pipes, sockets and devices, which may block.
std::map<std::string, std::string> files_of(Task& task);

/// Returns the answer of info(), without files. Throws Error if info() has a fault; the plugin is to blame.
DescribedTask described(const TaskInfo& info);

/// Returns the number of threads for a task that runs alone.
int all_cores();

}  // namespace ablate
