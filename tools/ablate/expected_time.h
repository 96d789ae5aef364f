// How long the trials of a plan will take, as far as the history can tell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// Of each trial, as the median of done trials of the same attention and task tells; NaN where none is done.
std::vector<double> expected_seconds(const std::vector<const PlannedTrial*>& trials, const std::filesystem::path& database);

/// One line for the trials that are not done: the sum of the median times of done trials of the same attention and task,
/// divided by the trials at a time; or that no done trial is like them. "" where all are done.
/// A second line tells the most memory that such trials have taken; a third one warns where the time-out is less than some of
/// them are expected to take.
/// @param again done trials run, too; @param jobs trials at a time; @param timeout_s of a trial; 0: none
/// @param database may be missing
std::string expected_time_text(const std::vector<const PlannedTrial*>& trials, bool again, int at_a_time, double timeout_s,
                               const std::filesystem::path& database);

}  // namespace ablate
