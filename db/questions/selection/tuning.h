// What a table of a study with [grid.tune] may look at: of each cell the trials of one value, chosen by dev. Internal to db/.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/questions/selection/selection.h"
#include "db/types/table.h"

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

/// The values of one cell of a study with [grid.tune], compared by dev.
struct Contest {
  std::vector<Members> values;      ///< the trials of each combination of values, in the grid's order
  std::set<std::size_t> compared;   ///< places in values: those whose trials all have a number on dev
  std::optional<std::size_t> best;  ///< of these the one with the best mean, the first of equals
};

/// @param combination of each trial of the selection @param metric nullptr: nothing can be compared
Contest contest_of(const Members& cell, const std::vector<std::size_t>& combination, const Reader::StoredMetric* metric,
                   DevMetrics& dev);

/// A cell is all trials that differ in tuned values and seeds alone.
struct Tuning {
  std::vector<std::string> paths;  ///< parameters that are chosen; none: every trial counts
  /// Of each cell those of the chosen value; all, where none can be chosen yet, and then the outcome of what is done is
  /// "undecided", so that no result of it is read.
  std::vector<SelectedTrial> trials;
  std::vector<std::size_t> cell_of;        ///< by trial: index into cells
  std::vector<std::vector<Chosen>> cells;  ///< [cell][path]
  std::vector<std::string> notes;
};

/// Chooses by the mean over a value's trials of the metric that they select their best weights by (Attempt::main_metric, on
/// dev), in its direction, the first of equals. Values whose trials are not all done, or have no such number, take no part.
/// Reads no result of the test split. Where trials tune on seeds of their own (SelectedTrial::tunes), it compares these alone,
/// and keeps the others of the chosen value; but these, where a parameter that is tuned is named: no others are at all values.
/// @param trials of experiments' latest grids, in each of which it chooses by itself; nothing is chosen of a grid that does not
/// tune, or of before there were cells. A trial without a cell beside others that have one (it was imported) stays as it is
/// @param named parameters that the table shows: with all of their values, as if they were not tuned
Tuning choose_by_dev(const Reader& reader, std::vector<SelectedTrial> trials, const std::vector<std::string>& named);

/// Fills table.tuned_paths and table.chosen. @param members of rows and columns, as TableTrials has them
void fill_chosen(const Tuning& tuning, const std::vector<Members>& members, Table& table);

}  // namespace ablate::db
