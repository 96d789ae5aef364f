// What a watcher has seen of the losses of trials that run: the history has the latest alone until a trial ends.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/types/watch_state.h"

namespace ablate::db {

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

}  // namespace ablate::db
