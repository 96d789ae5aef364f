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

/// The losses of running trials that a watcher has seen: the history has the latest alone until a trial ends.
class SeenLosses {
 public:
  /// Each look at the grids. Of a trial that no longer runs nothing stays.
  /// @param now_s by a clock that never goes back
  void take(const std::vector<WatchState>& states, double now_s);

  /// In the order of steps, about evenly spaced; at most kMost.
  std::span<const double> of(const WatchedTrial& trial) const;
  /// How long its step has been the same; 0 for one that was never seen.
  double unchanged_s(const WatchedTrial& trial) const;

  static constexpr std::size_t kMost = 256;

 private:
  using Name = std::pair<std::string, std::int64_t>;  ///< key and start
  struct Seen {
    std::vector<double> losses;
    std::int64_t step = -1;
    double changed_s = 0, now_s = 0;
    std::size_t every = 1, skipped = 0;  ///< of so many new losses one is kept
  };
  std::map<Name, Seen> trials_;
};

struct WatchView {
  std::size_t width = 100;  ///< columns; no line is longer
  std::size_t height = 0;   ///< lines; what comes last is counted instead; 0: any number
  bool colour = false;      ///< with escape sequences, which take no columns
};

/// The picture. Names come from studies and plugins, and are cleaned (one_row).
/// @param trouble why this is not the latest state; "": it is
std::vector<std::string> watch_lines(const std::vector<WatchState>& states, const SeenLosses& seen, const std::string& trouble,
                                     const WatchView& view);

/// "quickstart: 11 done, 1 failed; `ablate table quickstart` prints the table": what there is to say where nothing runs any
/// more.
std::string watch_summary(const WatchState& state);

}  // namespace ablate::db
