#include "core/host/scheduler/whole_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/records/setting_paths.h"
#include "core/shared/metrics.h"
#include "core/util/flatten.h"
#include "core/util/one_line.h"
#include "core/util/plain_json.h"
#include "core/util/without_numbers.h"

namespace ablate {
namespace {

constexpr std::size_t kMostLines = 10;

using Counts = std::map<std::string, int>;

/// Returns the outcome, and the group of the reason that follows: "failed: loss is nan at step #".
std::string group_of(const std::string& reason) {
  const auto colon = reason.find(": ");
  if (colon == std::string::npos) return reason_group(reason);
  return reason.substr(0, colon + 2) + reason_group(std::string_view(reason).substr(colon + 2));
}

/// Reasons of failed trials. Reasons that differ only in numbers are equal; the text has the numbers if all trials share them.
class Reasons {
 public:
  explicit Reasons(const std::vector<TrialEnd>& ends) {
    for (const auto& end : ends) {
      const auto text = one_line(end.reason, 200);
      of_trial_.push_back(group_of(end.reason));
      if (text.empty()) continue;
      ++counts_[of_trial_.back()];
      const auto [at, is_first] = texts_.try_emplace(of_trial_.back(), text);
      if (!is_first && at->second != text) at->second = of_trial_.back();
    }
  }

  const std::string& of(std::size_t trial) const { return of_trial_[trial]; }  ///< "": the trial did not fail
  const Counts& counts() const { return counts_; }
  const std::string& text(const std::string& reason) const { return texts_.at(reason); }

 private:
  std::vector<std::string> of_trial_;
  Counts counts_;
  std::map<std::string, std::string> texts_;
};

/// Returns "loss is nan at step #", or "loss is nan at step # (and 2 other reasons)".
std::string most_frequent(const Counts& counts, const Reasons& reasons) {
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  auto text = reasons.text(most->first);
  if (counts.size() > 1) text += fmt::format(" (and {} other reason{})", counts.size() - 1, counts.size() == 2 ? "" : "s");
  return text;
}

/// Trials with one value of a parameter.
struct OfValue {
  std::vector<std::size_t> trials;
  Counts reasons;
};

std::string value_text(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : plain_json(value); }

}  // namespace

std::vector<std::string> failure_lines(const std::vector<TrialEnd>& ends) {
  std::vector<std::string> lines;
  const Reasons reasons(ends);
  if (reasons.counts().empty()) return lines;
  std::vector<std::pair<std::string, int>> ordered(reasons.counts().begin(), reasons.counts().end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [reason, count] : ordered) {
    if (lines.size() == kMostLines) break;
    lines.push_back(fmt::format("{} {}", count, reasons.text(reason)));
  }
  std::map<std::string, std::map<std::string, OfValue>> axes;
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (const auto& [path, value] : flatten(ends[i].planned->trial->resolved())) {
      if (path == setting::kSeed) continue;
      auto& one = axes[path][value_text(value)];
      one.trials.push_back(i);
      if (!ends[i].reason.empty()) ++one.reasons[reasons.of(i)];
    }
  std::set<std::vector<std::size_t>> reported;  // parameters with the same failed trials get only one line
  const auto first = lines.size();
  for (const auto& [path, values] : axes) {
    if (values.size() < 2) continue;
    for (const auto& [value, one] : values) {
      const auto count = one.trials.size();
      const bool all_failed = std::ranges::all_of(one.trials, [&](std::size_t trial) { return !ends[trial].reason.empty(); });
      if (count < 2 || !all_failed || count == ends.size() || !reported.insert(one.trials).second) continue;
      if (lines.size() - first < kMostLines)
        lines.push_back(
            fmt::format("all {} of {} = {}: {}", count, path, one_line(value, 60), most_frequent(one.reasons, reasons)));
    }
  }
  return lines;
}

WholeGrid::WholeGrid(const std::vector<PlannedTrial>& planned, Executors& executors, db::GridStore& store,
                     const RunOptions& options, const Surroundings& outside)
    : planned_(planned), store_(store), options_(options) {
  std::vector<std::string> keys;
  for (const auto& trial : planned) keys.push_back(trial.key);
  const auto seen = store.leases();  // first, so that later failures are either in `past`, or newer than these leases
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
  send_end("");
  return false;
} catch (const std::exception& error) {
  if (run_) send_end(error.what());
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

void WholeGrid::send_end(const std::string& why) const {
  if (!options_.notify) return;
  const auto& now = so_far();
  auto reason = why;
  if (reason.empty() && now.interrupted) reason = "interrupted";
  if (reason.empty() && now.not_started > 0)
    reason = fmt::format("{} not started, because too many had failed", now.not_started);
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
