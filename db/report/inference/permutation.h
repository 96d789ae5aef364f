// Exact tests of a difference between two means. They assume no distribution, only that the labels are exchangeable.
#pragma once

#include <cstddef>
#include <span>

namespace ablate::db {

struct PValue {
  double p = 1;       ///< two-sided: twice the smaller tail, at most 1
  bool exact = true;  ///< true if all arrangements were counted; false: kDraws were drawn by a fixed seed
};

/// Arrangements are drawn instead of counted above this number.
inline constexpr double kMostArrangements = 1 << 20;
inline constexpr int kDraws = 100'000;

/// Tests paired differences: counts how many of the 2^n choices of signs have a sum at least as far from 0 as the observed sum.
/// Needs at least one difference; all must be finite.
/// @param subtracted sum of the absolute values on both sides. Their rounding is in the differences and may hide a tie: in
/// floating point, 85.32 - 85.31 is not 70.12 - 70.11.
PValue sign_flip_test(std::span<const double> differences, double subtracted = 0);

/// Tests two independent samples. Counts the splits of all values into groups of the samples' sizes by their difference of
/// means: at or above the samples' difference, and at or below it. Each sample needs at least one value; all must be finite.
PValue split_test(std::span<const double> a, std::span<const double> b);

/// Returns the least p that any values of `pairs` pairs can have: 2^(1 - pairs), at most 1.
double least_paired_p(std::size_t pairs);
/// Returns the least p of two independent samples: 2 over the number of splits, at most 1.
double least_unpaired_p(std::size_t a, std::size_t b);

}  // namespace ablate::db
