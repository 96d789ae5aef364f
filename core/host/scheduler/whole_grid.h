// A grid, step by step, including the work before its first trial and after its last one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/host/scheduler/grid_run.h"

namespace ablate {

/// End of one trial of the grid.
struct TrialEnd {
  const PlannedTrial* planned;
  std::string reason;  ///< "failed: signal 11 ..."; "" if it is done, or has not ended
};

/// Summarizes failures in at most ten lines per part, from one TrialEnd per trial. Part one has the reasons, the most frequent
/// first: "3 failed: signal # (Segmentation fault)". Part two has each value of a varied parameter whose trials all
/// failed, if these trials are at least two and not the whole grid: "all 6 of attention.plugin = x: failed: ...".
std::vector<std::string> failure_lines(const std::vector<TrialEnd>& ends);

/// Grid that run_trials of scheduler.h creates and runs to its end. Arguments must outlive this object. For one thread only.
class WholeGrid {
 public:
  /// Reads the history.
  WholeGrid(const std::vector<PlannedTrial>& planned, Executors& executors, db::GridStore& store, const RunOptions& options,
            const Surroundings& outside);

  /// Makes a step. Returns true if another step follows, else sends a notice of the end. Throws the errors of run_trials.
  bool step();

  /// Returns the summary so far.
  RunSummary summary() const;

 private:
  /// Summary without the lines about common failures.
  const RunSummary& so_far() const { return run_ ? run_->summary() : before_; }
  void send_end(const std::string& why) const;

  const std::vector<PlannedTrial>& planned_;
  db::GridStore& store_;
  RunOptions options_;
  RunSummary before_;             ///< trials that do not run, because of earlier attempts
  std::unique_ptr<GridRun> run_;  ///< null if there is nothing to run
  bool begun_ = false;
};

}  // namespace ablate
