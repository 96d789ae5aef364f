// ablate run --dry-run: what a run would do.
#pragma once

#include <string>

#include "core/host/launch/planned_study.h"

namespace ablate {

/// The selected trials of a study with their keys and what the history has of them, the first of them in full, and how
/// long they will take. Throws Interrupted.
std::string dry_run_text(const PlannedStudy& plan);

}  // namespace ablate
