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

struct MatchedMean {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();  ///< 95 %
  int n = 0;              ///< its blocks that hold a further value
  std::size_t group = 0;  ///< values of one group are linked by blocks; means of two groups are over other blocks
};

/// The least-squares means of number = value + block (population marginal means: Searle, Speed and Milliken 1980, as SAS's
/// LSMEANS and R's emmeans have them), each averaged over all blocks of its group with equal weight. Where every block holds
/// every value these are the plain means. Blocks of one value compare nothing and are left out; a value that has no others has
/// no mean. The interval is Student's, of the variance that value + block leaves (what the values' differences vary by over
/// settings and seeds); NaN where nothing is left to tell it.
/// @param numbers of values below `values` and blocks below `blocks` @return by value
std::vector<MatchedMean> matched_means(std::size_t values, std::size_t blocks, std::span<const BlockNumber> numbers);

}  // namespace ablate::db
