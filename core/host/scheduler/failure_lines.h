// What a grid's failures have in common, for its last words.
#pragma once

#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// How a trial of the grid has ended.
struct TrialEnd {
  const PlannedTrial* planned;
  std::string reason;  ///< "failed: signal 11 ..."; "": it is done, or has no end
};

/// "3 failed: signal # (Segmentation fault)", the most frequent first; then, for each value of a varied parameter all of whose
/// trials have failed, and not those of all its other values: "all 6 with attention.plugin = x failed: ...". At most ten lines
/// of each. @param ends one for each trial of the grid
std::vector<std::string> failure_lines(const std::vector<TrialEnd>& ends);

}  // namespace ablate
