// A grid step by step, with what comes before its first trial and after its last one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/host/scheduler/grid_run.h"

namespace ablate {

/// How a trial of the grid has ended.
struct TrialEnd {
  const PlannedTrial* planned;
  std::string reason;  ///< "failed: signal 11 ..."; "": it is done, or has no end
};

/// Lines on what failures have in common: "3 failed: signal # (Segmentation fault)", the most frequent first; then, for each
/// value of a varied parameter all of whose trials have failed, and not those of all its other values: "all 6 with
/// attention.plugin = x failed: ...". At most ten lines of each. @param ends one for each trial of the grid
std::vector<std::string> failure_lines(const std::vector<TrialEnd>& ends);

/// As run_trials of scheduler.h, which takes all steps. What is passed outlives it. One thread.
class WholeGrid {
 public:
  /// Reads the history.
  WholeGrid(const std::vector<PlannedTrial>& planned, Executors& executors, db::GridStore& store, const RunOptions& options,
            const Surroundings& outside);

  /// Throws as run_trials does. Whoever is to be notified hears of the end. @return whether another step is to come
  bool step();

  /// So far.
  RunSummary summary() const;

 private:
  /// Without what failures have in common.
  const RunSummary& so_far() const { return run_ ? run_->summary() : before_; }
  void tell_end(const std::string& why) const;

  const std::vector<PlannedTrial>& planned_;
  db::GridStore& store_;
  RunOptions options_;
  RunSummary before_;             ///< what does not run, by what is known of earlier attempts
  std::unique_ptr<GridRun> run_;  ///< none where nothing is to run
  bool begun_ = false;
};

}  // namespace ablate
