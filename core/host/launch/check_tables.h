// Whether the tables that a study names can be asked of its history: found before anything runs.
#pragma once

#include "core/host/study/study.h"

namespace ablate {

/// Throws ConfigError with every key that is no option of `ablate table`, value that the option does not take, and row or
/// column that no trial of the study has; misspelt metrics, what stands twice, conditions that are none, and rows that are
/// compared and not there. What only the numbers or the history decide is found when the table is made.
void check_tables(const Study& study);

}  // namespace ablate
