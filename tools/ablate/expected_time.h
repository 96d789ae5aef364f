// How long the trials of a plan will take, as far as the history can tell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// In one line, of the trials that are not done: the sum of the median times of done trials of the same attention and task,
/// over the trials at a time; or that there is none to go by. "" where all are done.
/// @param again the done ones run, too; @param jobs trials at a time; @param database may be missing
std::string expected_time_text(const std::vector<const PlannedTrial*>& trials, bool again, int jobs,
                               const std::filesystem::path& database);

}  // namespace ablate
