// Selects the trials that a table of a study with [grid.tune] shows: in each cell one value, chosen by dev. Internal to db/.
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

/// The metrics on dev by which trials select their best weights, with their values. Reads no result of the test split.
class DevMetrics {
 public:
  /// @param trials must outlive this object
  DevMetrics(const Reader& reader, const std::vector<SelectedTrial>& trials);

  /// Returns the metric on dev for the first trial that declares a main metric; nullptr if no trial declares a main metric.
  const Reader::StoredMetric* of(const Members& members) const;

  const std::vector<SelectedTrial>& trials() const { return trials_; }

  /// Returns a trial's value; NaN if the trial has no value, for example because it is not done.
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
  std::set<std::size_t> compared;   ///< indices into `values` of combinations whose trials all have a number on dev
  std::optional<std::size_t> best;  ///< the compared index with the best mean; the first of equal means
  std::size_t seeds = 0;            ///< seeds of the compared trials; trials without a seed count as one
  bool is_fragile = false;          ///< true if another value has a better mean when one of the seeds is left out
};

/// Compares the values of a cell, or nothing if `metric` is nullptr. `combination`: number of each trial's set of values.
Contest contest_of(const Members& cell, const std::vector<std::size_t>& combination, const Reader::StoredMetric* metric,
                   DevMetrics& dev);

/// Result of the choice. A cell is all trials that differ only in tuned values and seeds.
struct Tuning {
  std::vector<std::string> paths;  ///< parameters whose values dev chooses; empty: every trial counts
  /// The trials of each cell's chosen value. If no value can be chosen yet, all trials of the cell, with outcome "undecided" in
  /// place of "done", so that no result is read.
  std::vector<SelectedTrial> trials;
  std::vector<std::size_t> cell_of;        ///< index into cells by trial
  std::vector<std::vector<Chosen>> cells;  ///< [cell][path]
  std::vector<std::string> notes;
};

/// Chooses in each cell the value with the best mean of the metric that selects best weights (Attempt::main_metric, on dev). If
/// means are equal, the first value is chosen. A value takes part if all of its trials are done and have a number on dev. Reads
/// no result of the test split. If trials tune on separate seeds (Role::kTuning), only these trials are compared, and the
/// result has the other trials of the chosen value. If `named` has a tuned parameter, the result has the tuning trials, which
/// cover all values.
/// @param trials trials of the latest grids of experiments; dev chooses within each experiment. Grids that do not tune or have
/// no cells stay unchanged, as does an imported trial without a cell.
/// @param named parameters that the table shows with all of their values, as if they were not tuned
Tuning choose_by_dev(const Reader& reader, std::vector<SelectedTrial> trials, const std::vector<std::string>& named);

/// Fills table.tuned_paths and table.chosen. `members`: TableTrials::members.
void fill_chosen(const Tuning& tuning, const std::vector<Members>& members, Table& table);

}  // namespace ablate::db
