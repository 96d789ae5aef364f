// Means of a parameter's values over matched settings, which stay fair on a grid with holes. No SQLite.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace ablate::db {

/// Result of a metric for one value in one block. A block is a setting of all other parameters, with one seed. Each pair of
/// value and block occurs once.
struct BlockNumber {
  std::size_t value, block;
  double number;  ///< finite
};

/// Values that are compared, and the blocks that contain all of them. Both are in ascending order.
struct MatchedGroup {
  std::vector<std::size_t> values, blocks;
};

/// Divides values into groups with blocks in common; each value is in at most one group. The first group has the most cells:
/// the number of its values times the number of settings that all of them share. Groups are built value by value, and the next
/// value is always the value that costs the fewest settings.
/// @param settings setting of each block, numbered from 0
/// @param numbers numbers of all values; each value is an index below `values`
std::vector<MatchedGroup> matched_groups(std::size_t values, const std::vector<std::size_t>& settings,
                                         std::span<const BlockNumber> numbers);

struct MatchedMean {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();  ///< 95 %
};

/// Returns the mean of each value of a group over all its blocks, with Student's interval. The variance is the residual of the
/// model value + block: how differences of values vary over settings and seeds. The interval is NaN without degrees of freedom.
std::vector<MatchedMean> matched_means(const MatchedGroup& group, std::span<const BlockNumber> numbers);

}  // namespace ablate::db
