// Some of a study's trials, named by their keys.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// The trials of which a key, today's or one that a proof has kept, begins with one of `only`; all of them where it is empty.
/// Throws Error for one that begins none. @param database may be missing
std::vector<const PlannedTrial*> choose(const std::vector<PlannedTrial>& planned, const std::vector<std::string>& only,
                                        const std::filesystem::path& database);

}  // namespace ablate
