#include "core/host/scheduler/scheduler.h"

#include "core/host/scheduler/grid_run.h"
#include "core/shared/metrics.h"

namespace ablate {

RunSummary run_trials(const std::vector<PlannedTrial>& planned, Executors& executors, db::GridStore& store,
                      const RunOptions& options, const Surroundings& outside) {
  std::vector<std::string> keys;
  for (const auto& trial : planned) keys.push_back(trial.key);
  const auto done = store.done(keys);
  std::deque<const PlannedTrial*> waiting;
  for (const auto& trial : planned)
    if (options.again || !done.contains(trial.key)) waiting.push_back(&trial);
  const auto skipped = static_cast<int>(planned.size() - waiting.size());
  RunSummary summary;
  if (!waiting.empty()) {
    store.put_metrics({process_metrics().begin(), process_metrics().end()});
    GridRun run(executors, store, options, outside, std::move(waiting));
    while (run.step()) {
    }
    summary = run.summary();
  } else if (options.record) {
    options.record(store);
  }
  summary.skipped += skipped;
  return summary;
}

}  // namespace ablate
