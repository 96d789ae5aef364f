// What parameters do to metrics, as rows. No SQLite.
#pragma once

#include <vector>

#include "db/report/named_rows.h"
#include "db/types/effects.h"

namespace ablate::db {

/// Where a reference was asked for, a row for each change from it; else one for each value of each parameter.
/// @param for_people metrics with units, numbers with their interval in one field and the digits that it allows
NamedRows effect_rows(const std::vector<Effects>& all, bool for_people);

}  // namespace ablate::db
