// What is worth telling of a plan before it runs.
#pragma once

#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// What evaluation takes of the trials' time, in one line: "evaluation: 10 x 6000 dev + 10000 test examples, about 87 % of a
/// trial's time (...)"; for trials that differ in it, from the least to the most.
std::string evaluation_text(const std::vector<const PlannedTrial*>& trials);

/// Which trials are tested at learned positions that training never sees, in one line: those of a task whose tests are longer
/// than its training; "" where there are none.
std::string positions_text(const std::vector<const PlannedTrial*>& trials);

/// Evaluation's part of a trial's work, the mean over the trials, in [0, 1]; 0 for none.
double evaluation_share(const std::vector<const PlannedTrial*>& trials);

}  // namespace ablate
