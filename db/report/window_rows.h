// The curves of tuned parameters as rows. No SQLite.
#pragma once

#include <vector>

#include "db/report/named_rows.h"
#include "db/types/rate_windows.h"

namespace ablate::db {

/// A row for each value of each curve: labels, the parameter and its value, of each metric mean, deviation and n, trials that
/// are not done, whether dev chose it, and the window.
/// @param for_people metrics with units in one field, numbers with the digits that their deviation allows; the window stands at
/// its first value
NamedRows window_rows(const RateWindows& windows, bool for_people);

}  // namespace ablate::db
