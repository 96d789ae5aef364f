// A running grid as lines of text, for a terminal of any width.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/types/watch_state.h"

namespace ablate::db {

/// Losses that a watcher has read, of running trials. Until a trial ends, the history stores only the latest loss.
class SeenLosses {
 public:
  /// Adds the losses of a new reading of the grids and forgets trials that no longer run.
  /// @param now_s from a clock that never goes back
  void take(const std::vector<WatchState>& states, double now_s);

  /// Returns the losses in the order of steps, about evenly spaced; at most kMost.
  std::span<const double> of(const WatchedTrial& trial) const;
  /// Returns for how long the trial's step has not changed, in seconds; 0 for an unknown trial.
  double unchanged_s(const WatchedTrial& trial) const;

  static constexpr std::size_t kMost = 256;

 private:
  using Name = std::pair<std::string, std::int64_t>;  ///< key and start
  struct Seen {
    std::vector<double> losses;
    std::int64_t step = -1;
    double changed_s = 0, now_s = 0;
    std::size_t every = 1, skipped = 0;  ///< one of `every` losses is stored
  };
  std::map<Name, Seen> trials_;
};

struct WatchView {
  std::size_t width = 100;  ///< columns; no line is longer
  std::size_t height = 0;   ///< lines; further lines are only counted; 0: no limit
  bool colour = false;      ///< true: with escape sequences, which take no columns
};

/// Draws the grids. Names come from studies and plugins, and are cleaned (one_row).
/// @param trouble why this is not the latest state, or ""
std::vector<std::string> watch_lines(const std::vector<WatchState>& states, const SeenLosses& seen, const std::string& trouble,
                                     const WatchView& view);

/// Summarises a grid when no trial runs any more: "quickstart: 11 done, 1 failed; `ablate table quickstart` prints the table".
std::string watch_summary(const WatchState& state);

}  // namespace ablate::db
