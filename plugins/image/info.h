#pragma once

#include "ablate/task.h"
#include "folder.h"

namespace ablate::image {

/// Returns the task of a data set, from the headers of its files: density for kKept, otherwise the class. `holes` is true if
/// black pixels are absent. Throws FileError and std::invalid_argument like the readers and pooled().
TaskInfo info_of(const Folder& files, Colours colours, std::int64_t pool, bool holes);

}  // namespace ablate::image
