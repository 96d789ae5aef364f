// Notes about a plan for the user, before it runs.
#pragma once

#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// Returns evaluation's part of the trials' time in one line: "evaluation: 10 x 6000 dev + 10000 test examples, about 87 % of a
/// trial's time (...)". If the trials differ, shows the smallest and the largest part.
std::string evaluation_text(const std::vector<const PlannedTrial*>& trials);

/// Returns a line about trials with learned positions whose test sequences are longer than their training sequences. Their
/// tests then use positions that were never trained. Returns "" if there are no such trials.
std::string positions_text(const std::vector<const PlannedTrial*>& trials);

/// Returns evaluation's part of a trial's work, the mean over the trials, in [0, 1]; 0 if there are none.
double evaluation_share(const std::vector<const PlannedTrial*>& trials);

}  // namespace ablate
