#include "core/host/scheduler/scheduler.h"

#include "core/host/scheduler/failure_lines.h"
#include "core/host/scheduler/grid_run.h"
#include "core/shared/metrics.h"

namespace ablate {
namespace {

void tell_end(const RunOptions& options, const RunSummary& summary, const std::string& why, db::GridStore& store) {
  if (options.notify)
    options.notify({"end", summary.done, summary.failed, summary.skipped, summary.set_aside.total(), why, store.file()});
}

/// Which of them run, by what is known of earlier attempts.
struct ToRun {
  std::deque<const PlannedTrial*> waiting;
  std::set<const PlannedTrial*> alone;
  std::map<std::string, db::PastTries> past;
};

ToRun choose(const std::vector<PlannedTrial>& planned, db::GridStore& store, const RunOptions& options, RunSummary& summary) {
  ToRun chosen;
  std::vector<std::string> keys;
  for (const auto& trial : planned) keys.push_back(trial.key);
  const auto done = store.done(keys);
  chosen.past = store.tries(keys);
  for (const auto& trial : planned) {
    if (options.again) {
      chosen.waiting.push_back(&trial);
      continue;
    }
    if (done.contains(trial.key)) {
      ++summary.skipped;
      continue;
    }
    const auto past = chosen.past.find(trial.key);
    const auto retry = past == chosen.past.end() ? Retry() : retry_of(past->second.outcomes, options.retry);
    if (retry.what == Retry::What::kIsSetAside) {
      summary.set_aside.add(retry);
      continue;
    }
    if (retry.what == Retry::What::kRunsAlone) chosen.alone.insert(&trial);
    chosen.waiting.push_back(&trial);
  }
  return chosen;
}

}  // namespace

RunSummary run_trials(const std::vector<PlannedTrial>& planned, Executors& executors, db::GridStore& store,
                      const RunOptions& options, const Surroundings& outside) {
  RunSummary before;
  auto chosen = choose(planned, store, options, before);
  if (chosen.waiting.empty()) {
    if (options.record) options.record(store);
    tell_end(options, before, "", store);
    return before;
  }
  store.put_metrics({process_metrics().begin(), process_metrics().end()});
  GridRun run(executors, store, options, outside, chosen.waiting);
  for (const auto* trial : chosen.waiting)
    if (const auto past = chosen.past.find(trial->key); past != chosen.past.end())
      run.remember(*trial, past->second, chosen.alone.contains(trial));
  const auto so_far = [&] {
    auto summary = run.summary();
    summary.skipped += before.skipped;
    summary.set_aside.by_outcome = before.set_aside.by_outcome;
    summary.set_aside.exhausted = before.set_aside.exhausted;
    return summary;
  };
  try {
    while (run.step()) {
    }
  } catch (const std::exception& error) {
    tell_end(options, so_far(), error.what(), store);
    throw;
  }
  auto summary = so_far();
  std::vector<TrialEnd> ends;
  for (const auto& trial : planned) {
    const auto found = summary.reasons.find(&trial);
    ends.push_back({&trial, found == summary.reasons.end() ? "" : found->second});
  }
  summary.failure_lines = failure_lines(ends);
  summary.reasons.clear();
  tell_end(options, summary, "", store);
  return summary;
}

}  // namespace ablate
