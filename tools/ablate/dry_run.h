// ablate run --dry-run: shows how a run would go.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/host/launch/planned_study.h"

namespace ablate {

/// Lists a study's selected trials with key, state and expected time, the first of them in full. Throws Interrupted.
/// @param by_cost sorts the list: first the trials that will run, from the cheapest to the most expensive, then all others
/// @param aside_lines returns the lines about trials that a run skips
std::string dry_run_text(const PlannedStudy& plan, bool by_cost,
                         const std::function<std::vector<std::string>(const SetAside&)>& aside_lines);

}  // namespace ablate
