// A study's plan of shares, by what its history tells.
#pragma once

#include <filesystem>
#include <string>

#include "core/host/launch/planned_study.h"
#include "core/host/shares/shares_plan.h"

namespace ablate {

/// A study in its place, or an error, where values are chosen on seeds of their own: a share sees the trials of its own alone,
/// and so no choice.
PlannedStudy shareable(PlannedStudy plan);

/// Costs by done trials of the history, what is done there in no share. @param database may be missing
SharesPlan planned_shares(const PlannedStudy& plan, const std::filesystem::path& database, int shares);

/// Trials that are in a share.
int trials_left(const SharesPlan& plan);

/// How many trials in how many shares, and how even they are; one line.
std::string shares_text(const SharesPlan& plan);

}  // namespace ablate
