// Means of a parameter's values over matched settings, so that a grid with holes does not mislead. No SQLite.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace ablate::db {

/// The number of one value in one block: a setting of all other parameters, with one seed. Each pair of value and block once.
struct BlockNumber {
  std::size_t value, block;
  double number;  ///< finite
};

/// Values that are compared, and the blocks that hold all of them. Both ascending.
struct MatchedGroup {
  std::vector<std::size_t> values, blocks;
};

/// Divides values into groups with blocks in common; each value is in one group at most. The first group has the most cells:
/// its number of values times that of the settings that all of them share. Groups are built value by value; the next value is
/// always the one that costs the fewest settings. @param settings of each block, numbered from 0 @param numbers of values below
/// `values`
std::vector<MatchedGroup> matched_groups(std::size_t values, const std::vector<std::size_t>& settings,
                                         std::span<const BlockNumber> numbers);

struct MatchedMean {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();  ///< 95 %
};

/// Returns the mean of each value of a group over all of its blocks. The interval is Student's, of the variance that value +
/// block leaves (what the values' differences vary by over settings and seeds); NaN if no degree of freedom is left for it.
std::vector<MatchedMean> matched_means(const MatchedGroup& group, std::span<const BlockNumber> numbers);

}  // namespace ablate::db
