#pragma once

#include "ablate/task.h"
#include "folder.h"

namespace ablate::image {

/// Returns the task's info from the files' headers and labels. The objective is density for kKept, otherwise the class.
/// `holes` is true if black pixels are absent. Throws FileError for bad files, std::invalid_argument for a bad `pool`.
TaskInfo info_of(const Folder& files, Colours colours, std::int64_t pool, bool holes);

}  // namespace ablate::image
