#include "db/report/longer_difference.h"

#include <set>

namespace ablate::db {

double mean_longer(const Cell& cell) {
  double sum = 0;
  for (const auto& pair : cell.longer) sum += pair.longer;
  return cell.longer.empty() ? kNoNumber : sum / static_cast<double>(cell.longer.size());
}

LongerDifference longer_difference(const Cell& a, const Cell& b) {
  double sum = 0;
  std::set<std::optional<std::int64_t>> seen;
  for (const auto& one : a.longer)
    for (const auto& other : b.longer)
      if (one.seed == other.seed) {
        if (!seen.insert(one.seed).second) return {};
        sum += one.longer - other.longer;
      }
  if (seen.empty()) return {};
  return {sum / static_cast<double>(seen.size()), static_cast<int>(seen.size())};
}

}  // namespace ablate::db
