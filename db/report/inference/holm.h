// Correction for many comparisons at once.
#pragma once

#include <vector>

namespace ablate::db {

/// Largest probability that a table without any true difference shows a significant difference.
inline constexpr double kLevel = 0.05;

/// Returns p-values that are valid over all comparisons (Holm 1979, step down), in the same order. Values up to kLevel are
/// significant.
std::vector<double> holm(const std::vector<double>& p);

}  // namespace ablate::db
