// What a table of a study with [grid.tune] may look at: of each cell the trials of one value, chosen by dev. Internal to db/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/questions/selection.h"
#include "db/types/table.h"

namespace ablate::db {

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
