// Expected time of a plan's trials, estimated from the history.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// Returns each trial's expected seconds, from done trials of the same attention and task; NaN if no such trial is done.
std::vector<double> expected_seconds(const std::vector<const PlannedTrial*>& trials, const std::filesystem::path& database);

/// Returns the expected time of all trials that are not done: the sum of their expected_seconds divided by `at_a_time`, and at
/// least the longest. The line also counts trials without a similar done trial. Returns "" if all are done. A second line has
/// the most memory of a similar done trial. A third line warns if the time limit is shorter than an expected time.
/// @param again true if done trials run, too
/// @param timeout_s time limit of a trial; 0: none
/// @param database may be missing
std::string expected_time_text(const std::vector<const PlannedTrial*>& trials, bool again, int at_a_time, double timeout_s,
                               const std::filesystem::path& database);

}  // namespace ablate
