// The one check of a study that needs to know the task's data: how long its sequences are.
#pragma once

#include <cstdint>
#include <functional>

#include "core/grid/study.h"

namespace ablate {

/// Reports every compression rate that leaves less than one slot of a sequence (rate * length < 1), in the order of the file.
/// @param length tokens of the longest sequence of a task, from its resolved section; asked once for each different one. What
/// it throws goes through.
std::vector<Diagnostic> check_rates(const Study& study,
                                    const std::function<std::int64_t(const nlohmann::json& task_section)>& length);

}  // namespace ablate
