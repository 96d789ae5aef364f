// Converts answers of `ablate windows`, `effects` and `power` to rows. No SQLite.
#pragma once

#include <optional>
#include <vector>

#include "db/report/named_rows.h"
#include "db/types/effects.h"
#include "db/types/rate_windows.h"
#include "db/types/table.h"

namespace ablate::db {

/// A row for each value of each curve: labels, the parameter and its value, of each metric mean, deviation and n, trials that
/// are not done, whether dev chose it, and the window.
/// @param for_people metrics with units in one field, numbers with the digits that their deviation allows; the window stands at
/// its first value
NamedRows window_rows(const RateWindows& windows, bool for_people);

/// Where a reference was asked for, a row for each change from it; else one for each value of each parameter.
/// @param for_people metrics with units, numbers with their interval in one field and the digits that it allows
NamedRows effect_rows(const std::vector<Effects>& all, bool for_people);

/// Returns a row for each cell that is compared with another, or for each contrast: seeds, the difference so far, the deviation
/// of the paired differences, the least difference that so many seeds find (in kPower of cases, at Holm's first level over the
/// table's comparisons), the seeds needed to find `difference`, and why one of these is not known. @param table one with
/// `against` or contrasts @param difference looked for, in the metric's unit; nothing: no seeds are named. The difference so
/// far is not used in its place, since it would answer by chance: it is large if the test has found it, and small if not.
/// @param for_people metrics with units, numbers as texts of the digits that their deviation allows, "-" for null
NamedRows power_rows(const Table& table, std::optional<double> difference, bool for_people = false);

}  // namespace ablate::db
