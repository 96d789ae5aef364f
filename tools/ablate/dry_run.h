// ablate run --dry-run: what a run would do.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/host/scheduler/many_trials.h"
#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/scheduler.h"

namespace ablate {

inline constexpr std::size_t kShownDigits = 12;  ///< of a key

/// The selected trials of a study with their keys and what the history has of them, the first of them in full, and how
/// long they will take. @param many shows how far it is with the study's trials. Throws Interrupted.
std::string dry_run_text(const Study& study, const std::vector<const PlannedTrial*>& chosen, const RunOptions& how,
                         const std::filesystem::path& database, const ManyTrials& many);

}  // namespace ablate
