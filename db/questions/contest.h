// The values of one cell of a study with [grid.tune], compared by dev. Internal to db/.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "db/questions/selection.h"

namespace ablate::db {

/// The metrics on dev that trials select their best weights by, and their values. Reads no result of the test split.
class DevMetrics {
 public:
  /// @param trials must outlive this
  DevMetrics(const Reader& reader, const std::vector<SelectedTrial>& trials);

  /// Of the first of some trials that says what it is judged by; nullptr where none does.
  const Reader::StoredMetric* of(const Members& members) const;

  /// A trial's value; NaN where it has none, as it is not done.
  double value(const Reader::StoredMetric& metric, std::size_t trial);

 private:
  const Reader& reader_;
  const std::vector<SelectedTrial>& trials_;
  std::vector<Reader::StoredMetric> metrics_;
  std::vector<std::int64_t> marks_;
  std::map<std::int64_t, std::vector<std::optional<double>>> values_;  ///< by metric
};

struct Contest {
  std::vector<Members> values;      ///< the trials of each combination of values, in the grid's order
  std::set<std::size_t> compared;   ///< places in values: those whose trials all have a number on dev
  std::optional<std::size_t> best;  ///< of these the one with the best mean, the first of equals
};

/// @param combination of each trial of the selection @param metric nullptr: nothing can be compared
Contest contest_of(const Members& cell, const std::vector<std::size_t>& combination, const Reader::StoredMetric* metric,
                   DevMetrics& dev);

}  // namespace ablate::db
