// What a task says of itself, as far as it can be wrong: the one place that a run and the suite ask. Torch-free.
#pragma once

#include <cstdint>
#include <string>

#include "ablate/task.h"

namespace ablate {

inline constexpr std::int64_t kMostOfATask = 1'000'000'000'000;  ///< tokens, classes, examples: more is a fault

/// "the field Sym bol is not snake_case"; "" where nothing is wrong.
std::string fault_of(const TaskInfo& info);

}  // namespace ablate
