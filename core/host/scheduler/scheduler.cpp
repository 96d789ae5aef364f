#include "core/host/scheduler/scheduler.h"

#include "core/host/scheduler/whole_grid.h"

namespace ablate {

RunSummary run_trials(const std::vector<PlannedTrial>& planned, Executors& executors, db::GridStore& store,
                      const RunOptions& options, const Surroundings& outside) {
  WholeGrid grid(planned, executors, store, options, outside);
  while (grid.step()) {
  }
  return grid.summary();
}

}  // namespace ablate
