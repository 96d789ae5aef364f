// Many comparisons at once.
#pragma once

#include <vector>

namespace ablate::db {

/// What is told by chance in one table of twenty.
inline constexpr double kLevel = 0.05;

/// p-values that hold over all comparisons (Holm 1979, step down): adjusted in place of each, in the same order. Each is told
/// apart where its own is at most kLevel.
std::vector<double> holm(const std::vector<double>& p);

}  // namespace ablate::db
