// What samples say together.
#pragma once

#include <limits>
#include <span>

#include "db/types/table.h"

namespace ablate::db {

struct Summary {
  int n = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();       ///< NaN for n = 0, or where a sample is
  double deviation = std::numeric_limits<double>::quiet_NaN();  ///< of the sample (n - 1); NaN for n < 2
};

Summary summary_of(std::span<const Sample> samples);

/// Of a cell's mean; 0 where it is not known.
double relative_uncertainty(const Cell& cell);

}  // namespace ablate::db
