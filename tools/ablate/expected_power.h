// ablate run --dry-run: what the study's seeds can tell, before they are paid for.
#pragma once

#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// "n = 3: nothing can be told at 5 % over 6 comparisons; ...", or from which difference on n seeds tell one: of each setting
/// against one, task by task; then of each named table's contrasts, in one column. "" where there is one setting.
std::string expected_power_text(const Study& study, const std::vector<const PlannedTrial*>& trials);

}  // namespace ablate
