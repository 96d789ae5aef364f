// What the comparisons of a table could tell: with the seeds that they have, and with more. No SQLite.
#pragma once

#include <optional>
#include <vector>

#include "db/report/named_rows.h"
#include "db/types/table.h"

namespace ablate::db {

/// Returns a row for each cell that is compared with another, or for each contrast: seeds, the difference so far, the deviation
/// of the paired differences, the least difference that so many seeds find (in kPower of cases, at Holm's first level over the
/// table's comparisons), the seeds needed to find `difference`, and why one of these is not known. @param table one with
/// `against` or contrasts @param difference looked for, in the metric's unit; nothing: no seeds are named. The difference so
/// far is not used in its place, since it would answer by chance: it is large if the test has found it, and small if not.
/// @param for_people metrics with units, numbers as texts of the digits that their deviation allows, "-" for null
NamedRows power_rows(const Table& table, std::optional<double> difference, bool for_people = false);

}  // namespace ablate::db
