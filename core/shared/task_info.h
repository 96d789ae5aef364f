// Finds faults in the TaskInfo of a task. A run and the suite both use this code. Torch-free.
#pragma once

#include <cstdint>
#include <string>

#include "ablate/task.h"

namespace ablate {

inline constexpr std::int64_t kMostOfATask = 1'000'000'000'000;  ///< tokens, classes, examples: larger numbers are a fault

/// Returns the fault: "the field Sym bol is not snake_case"; "" if there is none.
std::string fault_of(const TaskInfo& info);

}  // namespace ablate
