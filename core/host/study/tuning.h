// [grid.tune]: axes of which one value is chosen by dev, cell by cell. The study defines the cells. Tables ask the history for
// the chosen values (db/questions/selection/tuning.h).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/host/study/draft.h"

namespace ablate {

/// Puts the seeds of [grid.tune], where there are any and something is tuned, before those of [grid]. Reports one that is of
/// both.
void add_tuning_seeds(Draft& draft, Diagnostics& diagnostics);

/// Reports axes that are tuned and have one value only: there is nothing to choose; and those of whose values dev asks other
/// things.
void check_tuned(const Draft& draft, Diagnostics& diagnostics);

/// Numbers the cells of a study that tunes: trials that differ in tuned values and seeds alone share one. The draft must
/// outlive this.
class Cells {
 public:
  explicit Cells(const Draft& draft) : draft_(draft) {}

  /// Gives a point's trial its cell, numbered from 0 in the grid's order; none where the study tunes nothing. Reports one that
  /// reads another part of dev than its cell's first one. @param alternatives Point::alternatives
  void add(const std::vector<std::size_t>& alternatives, Trial& trial, Diagnostics& diagnostics);

  /// Reports values that lack seeds which others of their cell have: means over other seeds do not compare. And cells without
  /// a seed to choose on, or to report.
  void check_seeds(Diagnostics& diagnostics) const;

 private:
  using Alternatives = std::vector<std::size_t>;  ///< alternatives of some groups
  struct Cell {
    std::int64_t number, batch;                                ///< batch: of its first trial
    std::map<Alternatives, std::set<std::size_t>> seeds = {};  ///< by tuned alternatives
  };

  const Draft& draft_;
  std::map<Alternatives, Cell> cells_;  ///< by the other alternatives
};

}  // namespace ablate
