// ablate run --dry-run: what a run would do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/host/launch/planned_study.h"

namespace ablate {

/// The selected trials of a study with their keys and what the history has of them, the first of them in full, and how
/// long they will take. Throws Interrupted.
/// @param by_cost those that are to run come first, the cheapest of them before the others @param aside_lines what is told of
/// those that a run leaves alone
std::string dry_run_text(const PlannedStudy& plan, bool by_cost,
                         const std::function<std::vector<std::string>(const SetAside&)>& aside_lines);

}  // namespace ablate
