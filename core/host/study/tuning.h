// [grid.tune]: axes whose value dev chooses, separately in each cell. The study defines the cells. Tables read the chosen
// values from the history (db/questions/selection/tuning.h).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/host/study/draft.h"
#include "core/host/study/schema.h"

namespace ablate {

/// Puts the seeds of [grid.tune] before the seeds of [grid] if the grid has tuned values. Reports a seed that is in both.
void add_tuning_seeds(Draft& draft, Diagnostics& diagnostics);

/// Reports tuned axes with a single value, and tuned parameters that change dev itself.
void check_tuned(const Draft& draft, Diagnostics& diagnostics);

/// Adds up to kMostBeyond values beyond each end of the tuned axis if [grid.tune] has `widen`: each new value is its neighbour
/// times the ratio of the last two values, rounded to three digits. Leaves out values that the parameter refuses. Reports a
/// study that does not tune exactly one axis of at least two positive numbers.
void add_values_beyond(Draft& draft, const Schema& schema, Diagnostics& diagnostics);

/// Numbers the cells of a study: trials that differ only in tuned values and seeds share a cell. The draft must outlive this.
class Cells {
 public:
  explicit Cells(const Draft& draft) : draft_(draft) {}

  /// Sets a trial's cell, numbered from 0 in the grid's order; none if the study tunes nothing. Reports a trial that reads
  /// another part of dev than the first trial of its cell. `alternatives` are those of the trial's Point.
  void add(const std::vector<std::size_t>& alternatives, Trial& trial, Diagnostics& diagnostics);

  /// Reports values that lack seeds of their cell, because means over different seeds cannot be compared. Also reports cells
  /// without a seed on which values are compared, or without a seed to report.
  void check_seeds(Diagnostics& diagnostics) const;

 private:
  using Alternatives = std::vector<std::size_t>;  ///< alternatives of some groups
  struct Cell {
    std::int64_t number, batch;                                ///< batch: train.batch of the cell's first trial
    std::map<Alternatives, std::set<std::size_t>> seeds = {};  ///< by tuned alternatives
  };

  const Draft& draft_;
  std::map<Alternatives, Cell> cells_;  ///< by the alternatives that are not tuned
};

}  // namespace ablate
