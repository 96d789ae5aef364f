// Means of longer trials (Cell::longer). No SQLite.
#pragma once

#include "db/types/table.h"

namespace ablate::db {

/// Returns the mean of a cell's longer trials; NaN without any.
double mean_longer(const Cell& cell);

/// Returns the mean difference of two cells' longer trials over common seeds, a minus b. Returns NaN without a common seed, or
/// if a seed occurs twice in a cell.
double longer_difference(const Cell& a, const Cell& b);

}  // namespace ablate::db
