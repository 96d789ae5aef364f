// Selects some of a study's trials by their keys.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// Returns the trials whose key begins with an entry of `only`, or all trials if `only` is empty. A former key of a proven
/// trial counts, too. Throws Error if an entry matches no trial. The database may be missing.
std::vector<const PlannedTrial*> choose(const std::vector<PlannedTrial>& planned, const std::vector<std::string>& only,
                                        const std::filesystem::path& database);

}  // namespace ablate
