#include "core/host/scheduler/whole_grid.h"

#include <fmt/format.h>

#include "core/host/scheduler/failure_lines.h"
#include "core/shared/metrics.h"

namespace ablate {

WholeGrid::WholeGrid(const std::vector<PlannedTrial>& planned, Executors& executors, db::GridStore& store,
                     const RunOptions& options, const Surroundings& outside)
    : planned_(planned), store_(store), options_(options) {
  std::vector<std::string> keys;
  for (const auto& trial : planned) keys.push_back(trial.key);
  const auto seen = store.leases();  // first: what fails from now on is either in what is read next, or newer than these
  const auto past = store.tries(keys);
  const auto done = store.done(keys);
  std::deque<const PlannedTrial*> waiting;
  std::set<const PlannedTrial*> alone;
  for (const auto& trial : planned) {
    if (!options.again && done.contains(trial.key)) {
      ++before_.skipped;
      continue;
    }
    const auto found = past.find(trial.key);
    const auto retry = options.again || found == past.end() ? Retry() : retry_of(found->second.outcomes, options.retry);
    if (retry.what == Retry::What::kIsSetAside) {
      before_.set_aside.add(retry);
      continue;
    }
    if (retry.what == Retry::What::kRunsAlone) alone.insert(&trial);
    waiting.push_back(&trial);
  }
  if (waiting.empty()) return;
  run_ = std::make_unique<GridRun>(executors, store, options, outside, waiting, seen, before_);
  for (const auto* trial : waiting)
    if (const auto found = past.find(trial->key); found != past.end())
      run_->remember(*trial, found->second, alone.contains(trial));
}

bool WholeGrid::step() try {
  if (!run_) {
    if (options_.record) options_.record(store_);
  } else {
    if (!begun_) store_.put_metrics({process_metrics().begin(), process_metrics().end()});
    begun_ = true;
    if (run_->step()) return true;
  }
  tell_end("");
  return false;
} catch (const std::exception& error) {
  if (run_) tell_end(error.what());
  throw;
}

RunSummary WholeGrid::summary() const {
  auto summary = so_far();
  std::vector<TrialEnd> ends;
  for (const auto& trial : planned_) {
    const auto found = summary.reasons.find(&trial);
    ends.push_back({&trial, found == summary.reasons.end() ? "" : found->second});
  }
  summary.failure_lines = failure_lines(ends);
  summary.reasons.clear();
  return summary;
}

void WholeGrid::tell_end(const std::string& why) const {
  if (!options_.notify) return;
  const auto& now = so_far();
  auto reason = why;
  if (reason.empty() && now.interrupted) reason = "interrupted";
  if (reason.empty() && now.not_started > 0) reason = fmt::format("{} not started, since too many had failed", now.not_started);
  options_.notify(notice_of("end", now, reason, run_ && !run_->rescued().empty() ? run_->rescued() : store_.file()));
}

RunSummary run_trials(const std::vector<PlannedTrial>& planned, Executors& executors, db::GridStore& store,
                      const RunOptions& options, const Surroundings& outside) {
  WholeGrid grid(planned, executors, store, options, outside);
  while (grid.step()) {
  }
  return grid.summary();
}

}  // namespace ablate
