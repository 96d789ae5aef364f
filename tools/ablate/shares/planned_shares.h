// Plans the shares of a study, with costs from its history.
#pragma once

#include <filesystem>
#include <string>

#include "core/host/launch/planned_study.h"
#include "core/host/shares/shares_plan.h"

namespace ablate {

/// Returns the plan. Throws Error if all trials together choose values on dev ([grid.tune] with its own seeds, or beside
/// [grid.longer]): a share has only its own trials and cannot choose.
PlannedStudy shareable(PlannedStudy plan);

/// Estimates costs from done trials of the history. Trials that are done in the history get no share.
/// @param database may be missing
SharesPlan planned_shares(const PlannedStudy& plan, const std::filesystem::path& database, int shares);

/// Returns the number of trials in all shares.
int trials_left(const SharesPlan& plan);

/// Returns one line: the number of trials and shares, and how even the shares are.
std::string shares_text(const SharesPlan& plan);

}  // namespace ablate
