// Runs the trials of a plan in processes of their own and writes how each ended. Torch-free; the only writer of the database.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/scheduler/plan.h"

namespace ablate {

struct RunOptions {
  int jobs = 1;                  ///< trials at a time
  double timeout_s = 0;          ///< a trial that runs longer is ended; 0: none
  bool again = false;            ///< also what is done already
  std::function<void()> record;  ///< called once, when all that the trials need is loaded, before the first of them starts
  double load_s = 3600;          ///< to load plugins and data sets into the worker; a greater timeout_s allows more
};

struct RunSummary {
  int done = 0, failed = 0, skipped = 0;  ///< failed: also timed out; skipped: their key was done before
  bool interrupted = false;               ///< by SIGINT or SIGTERM; running trials were ended and recorded so

  ExitCode exit_code() const {
    return interrupted ? ExitCode::kInterrupted : failed > 0 ? ExitCode::kTrialsFailed : ExitCode::kDone;
  }
};

/// Runs those trials of the plan whose keys are not done, or all of them. A trial that crashes, throws, hangs or diverges is
/// recorded with its reason and the tail of its output, and the grid goes on; so it does when the worker itself dies, with a
/// new one. Throws Error where the plugins cannot be loaded into a worker, or not in time, or the database cannot be written.
RunSummary run_trials(const std::vector<PlannedTrial>& planned, std::unique_ptr<WorkerClient>& worker, db::Store& store,
                      const RunOptions& options);

}  // namespace ablate
