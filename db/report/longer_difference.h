// Means of longer trials (Cell::longer). No SQLite.
#pragma once

#include "db/types/table.h"

namespace ablate::db {

/// Returns the mean of a cell's longer trials; NaN without any.
double mean_longer(const Cell& cell);

struct LongerDifference {
  double value =
      kNoNumber;  ///< mean over common seeds, a minus b; NaN without such a seed, or if a seed occurs twice in a cell
  int seeds = 0;  ///< number of common seeds; 0 if `value` is NaN
};

/// Compares the longer trials of two cells.
LongerDifference longer_difference(const Cell& a, const Cell& b);

}  // namespace ablate::db
