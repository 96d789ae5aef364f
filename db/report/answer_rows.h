// Converts answers of `ablate windows`, `effects` and `power` to rows. No SQLite.
#pragma once

#include <optional>
#include <vector>

#include "db/report/named_rows.h"
#include "db/types/effects.h"
#include "db/types/rate_windows.h"
#include "db/types/table.h"

namespace ablate::db {

/// Returns a row for each value of each curve: labels, parameter and value; mean, deviation and n of each metric; the number of
/// open trials; whether dev chose the value; the window.
/// @param for_people numbers get units and the digits that their deviation allows; the window is shown only at its first value
NamedRows window_rows(const RateWindows& windows, bool for_people);

/// Returns a row for each change from the reference if a reference was requested, else a row for each value of each parameter.
/// @param for_people a number gets its unit, and its interval in the same field, with the digits that the interval allows
NamedRows effect_rows(const std::vector<Effects>& all, bool for_people);

/// Returns a row for each cell that is compared with another, or for each contrast. Fields: seeds, the difference so far, the
/// deviation of the paired differences, and the least difference that these seeds find in kPower of all cases, at Holm's first
/// level (kLevel / comparisons of the table). Then the seeds needed to find `difference`, and why a number is unknown.
/// @param table has `against` or contrasts
/// @param difference difference to find, in the metric's unit; nullopt: no number of seeds is given. The difference so far
/// cannot replace `difference`, because the difference so far depends on the test's result: large if significant, else small.
/// @param for_people metrics carry their units, numbers are texts with the digits that their deviation allows, "-" for null
NamedRows power_rows(const Table& table, std::optional<double> difference, bool for_people = false);

}  // namespace ablate::db
