// Difference between the values of two settings over seeds: its size, its uncertainty, and its p-value.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// Difference a - b. Values are paired by seed if at least two seeds are on both sides, because trials of one seed start with
/// the same shared weights and data order. Values without a partner are then left out. Otherwise the samples are independent.
struct Difference {
  double value = std::numeric_limits<double>::quiet_NaN();  ///< mean of the differences, or difference of the means
  /// 95 % interval of `value`: by Student's t of the paired differences, or by Welch's t (Welch 1947; Satterthwaite's degrees
  /// of freedom). NaN if a side has fewer than two values.
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
  /// Two-sided p of the sign-flip test or the permutation test (permutation.h), or of Student's t; NaN if there is no test.
  double p = std::numeric_limits<double>::quiet_NaN();
  bool exact = true;  ///< PValue::exact
  bool paired = false;
  /// Smallest p that can be reached with this number of values (least_paired_p, least_unpaired_p); 0 for Student's t.
  double least_p = 1;
  int n = 0;                                                    ///< number of pairs, or of the values of the smaller side
  double deviation = std::numeric_limits<double>::quiet_NaN();  ///< standard deviation of the paired differences (n - 1)
  std::vector<std::int64_t> only_a, only_b;                     ///< seeds without a partner, if values are paired

  bool tested() const { return p == p; }
};

/// @param a,b values of one setting each. A seed occurs once in each. Values that are not finite are not tested.
/// @param t_test computes p by the paired t test, or by Welch's t test; differences without a spread then have no p
Difference difference_of(std::span<const Sample> a, std::span<const Sample> b, bool t_test = false);

}  // namespace ablate::db
