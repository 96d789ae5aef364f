// Exact tests of a difference between two means. They assume no distribution: only that labels could have fallen otherwise.
#pragma once

#include <cstddef>
#include <span>

namespace ablate::db {

struct PValue {
  double p = 1;       ///< two-sided: twice the smaller tail, at most 1
  bool exact = true;  ///< all arrangements were counted; false: kDraws of them, drawn by a fixed seed
};

/// More arrangements than this are drawn, not counted.
inline constexpr double kMostArrangements = 1 << 20;
inline constexpr int kDraws = 100'000;

/// Of paired differences: how many of the 2^n ways to give them signs have a sum as far from 0 as theirs. At least one
/// difference, all finite. @param subtracted sum of the sizes of the values that they are the differences of. Their rounding is
/// in the differences, where it may be most of a tie: 85.32 - 85.31 is not 70.12 - 70.11.
PValue sign_flip_test(std::span<const double> differences, double subtracted = 0);

/// Of two independent samples: how many of the ways to split their values into groups of these sizes have means as far apart.
/// At least one value each, all finite.
PValue split_test(std::span<const double> a, std::span<const double> b);

/// The least p that any values of so many pairs can have: 2^(1 - n), at most 1.
double least_paired_p(std::size_t pairs);
/// The same of two independent samples: 2 over the number of splits, at most 1.
double least_unpaired_p(std::size_t a, std::size_t b);

}  // namespace ablate::db
