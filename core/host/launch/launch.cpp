#include "core/host/launch/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

#include "core/host/launch/known_verdicts.h"
#include "core/host/scheduler/plan_text.h"
#include "core/host/scheduler/recording.h"
#include "core/host/scheduler/scheduler.h"
#include "core/util/stop_on_signal.h"
#include "db/history/reader.h"
#include "db/report/format.h"

namespace ablate {
namespace {

/// Merges the notices of a grid's phases, so that --notify reports one end.
class PhaseNotices {
 public:
  explicit PhaseNotices(std::function<void(const Notice&)> send) : send_(std::move(send)) {}

  /// Handles a notice of the running phase. `is_last` is true in the grid's last phase.
  void send(Notice notice, bool is_last);
  void begin_next(const RunSummary& before) { before_ = before, end_.reset(); }
  /// Sends the stored end notice, because no other phase begins. `not_started` trials did not start, because too many failed.
  void end(int not_started = 0) {
    if (!end_) return;
    end_->not_started = std::max(end_->not_started, not_started);
    send_(*end_);
  }

 private:
  std::function<void(const Notice&)> send_;
  RunSummary before_;
  std::optional<Notice> end_;
  bool has_sent_failure_ = false;
};

void PhaseNotices::send(Notice notice, bool is_last) {
  notice.done += before_.done;
  notice.failed += before_.failed;
  notice.skipped += before_.skipped;
  notice.set_aside += before_.set_aside.total();
  notice.elsewhere += before_.elsewhere;
  const std::string_view event = notice.event;
  if (event == "failure" && std::exchange(has_sent_failure_, true)) return;  // the notice is about the first failure only
  if (event == "end" && !is_last)
    end_ = notice;
  else
    send_(notice);
}

/// Adds the result of a later phase to `all`.
void add(const RunSummary& later, RunSummary& all) {
  all.done += later.done, all.failed += later.failed, all.skipped += later.skipped;
  all.elsewhere += later.elsewhere, all.failed_elsewhere += later.failed_elsewhere;
  all.not_started += later.not_started;
  for (const auto& [outcome, count] : later.set_aside.by_outcome) all.set_aside.by_outcome[outcome] += count;
  all.set_aside.exhausted += later.set_aside.exhausted;
  all.set_aside.quarantined += later.set_aside.quarantined;
  all.quarantines.insert(all.quarantines.end(), later.quarantines.begin(), later.quarantines.end());
  all.failure_lines.insert(all.failure_lines.end(), later.failure_lines.begin(), later.failure_lines.end());
  all.interrupted = all.interrupted || later.interrupted;
}

/// Returns how many more trials may fail. Returns nullopt if no other trial may start.
std::optional<MostFailures> left_of(const MostFailures& most, const RunSummary& before) {
  if (before.not_started > 0) return std::nullopt;
  if (most.trials == 0) return most;
  if (before.failed >= most.trials) return std::nullopt;
  return MostFailures{.trials = most.trials - before.failed};
}

/// Warns if the history has another study of this name, because the table shows only trials of the study that ran last.
void warn_of_namesake(const PlannedStudy& plan, const Note& note) try {
  const auto& database = plan.asked.database;
  const auto& study = plan.study;
  std::error_code none;
  if (!std::filesystem::exists(database, none)) return;
  const db::Reader history(database);
  const auto other = history.study_file(study.name);
  if (other.empty() || other == std::filesystem::absolute(study.file) || history.study_text(study.name) == study.text) return;
  note(
      fmt::format("warning: in {} the experiment {} was made by another study, {}; the table will leave its trials out; "
                  "--set experiment.name=NAME keeps them apart",
                  db::one_row(database.string()), db::one_row(study.name), db::one_row(other)));
} catch (const Error&) {  // the code that opens the history for writing reports the error
}

void warn_of_unmatched(const Study& study, const Note& note) {
  for (const auto& one : study.matched)
    if (!one.matches())
      note(fmt::format("warning: grid.match: {}: {}", db::one_row(one.setting), width_text(one, *study.match)));
}

bool are_done(const std::vector<const PlannedTrial*>& trials, db::Store& store) {
  std::vector<std::string> keys;
  for (const auto* trial : trials) keys.push_back(trial->key);
  return store.done(keys).size() == std::set(keys.begin(), keys.end()).size();
}

/// Notes how many done trials have no kept weights. Missing weights alone do not make a done trial run again.
void note_missing_weights(const std::vector<const PlannedTrial*>& trials, db::Store& store, const Note& note) {
  std::vector<std::string> keys;
  for (const auto* trial : trials) keys.push_back(trial->key);
  const auto done = store.done(keys).size(), kept = store.with_weights(keys).size();
  if (done > kept)
    note(
        fmt::format("note: experiment.keep_weights: {} of the trials that are done {} no kept weights; --again runs done "
                    "trials once more",
                    done - kept, done - kept == 1 ? "has" : "have"));
}

/// Notes facts about this run's trials that may surprise the user.
void note_plan(const PlannedStudy& plan, int most_jobs, const Note& note) {
  const int together = std::min({plan.at_a_time, most_jobs, static_cast<int>(plan.wanted.size())});
  if (const auto text = crowd_text(plan, together); !text.empty()) note(text);
  if (evaluation_share(plan.wanted) > 0.5) note(evaluation_text(plan.wanted));
  if (const auto text = positions_text(plan.wanted); !text.empty()) note(text);
  if (const auto text = too_few_seeds_text(plan.study); !text.empty()) note("warning: " + text);
}

}  // namespace

Launched launch(const PlannedStudy& plan, Executors& executors, const Note& note) {
  const StopOnSignal stop;
  const auto& asked = plan.asked;
  if (!asked.is_bench) warn_of_namesake(plan, note);
  warn_of_unmatched(plan.study, note);
  auto store = open_history(asked.database);
  auto choice = plan.choice;
  const auto first = plan.study.comparing_role();
  const bool has_phases = plan.study.waits_for_dev() || plan.study.longer_factor > 0;
  bool is_last = !has_phases;  // true in the last phase of the grid
  const auto verdicts = known_verdicts(plan.used);
  Notifier notifier(asked.notify, plan.study.name, note);
  PhaseNotices notices([&](const Notice& notice) { notifier.send(notice); });
  RunOptions how{.at_a_time = plan.at_a_time,
                 .timeout_s = plan.study.timeout_s,
                 .again = asked.again,
                 .memory_bytes = asked.memory_bytes,
                 .retry = asked.retry,
                 .max_failures = asked.max_failures,
                 .pin = plan.at_a_time * plan.threads <= plan.cores,
                 .notify = asked.notify.empty() ? std::function<void(const Notice&)>()
                                                : [&](const Notice& notice) { notices.send(notice, is_last); },
                 .keep_weights = plan.study.keep_weights && asked.prove == 0,
                 .is_bench = asked.is_bench,
                 .checkpoint_s = asked.prove == 0 ? plan.study.checkpoint_s : 0,
                 // Recording happens again if the file was replaced or the experiment was deleted. Results then wait to be
                 // written, so a signal must not stop the recording.
                 .record =
                     [&, begun = false](db::GridStore& into) mutable {
                       record_study(
                           into, plan.study, plan.planned, verdicts,
                           [&](const Trial& trial) { return choice.leaves_out(trial); }, asked.listed_us,
                           !begun && asked.prove == 0);
                       begun = true;
                     },
                 .after_step = asked.after_step,
                 // A worker may refuse a task because of an old cached answer: the next run queries the tasks again.
                 .forget = [&] { forget_tasks(plan.study, plan.catalog, plan.memory); },
                 .verdicts = user_verdicts()};
  const bool is_idle = !asked.again && asked.prove == 0 && are_done(plan.wanted, store) && plan.awaited().empty();
  if (!is_idle) executors.need(note);
  stop_if_asked();
  Launched launched;
  if (asked.prove > 0) {
    launched.proof = prove(plan.wanted, asked.prove, executors, store, how);
    choice = DevChoice(plan.study, plan.planned, asked.database);  // the proof may have given done trials new keys
    if (launched.proof->differences.empty()) how.record(store);
    return launched;
  }
  if (plan.study.keep_weights && !asked.again) note_missing_weights(plan.wanted, store, note);
  note_plan(plan, is_idle ? 0 : executors.need().most_jobs(), note);
  const auto run = [&](const std::vector<const PlannedTrial*>& trials, const std::function<bool(const Trial&)>& is_of_phase) {
    std::vector<PlannedTrial> to_run;
    for (const auto* trial : trials)
      if (!choice.leaves_out(*trial->trial) && is_of_phase(*trial->trial)) to_run.push_back(*trial);
    try {
      return run_trials(to_run, executors, store, how, {.room = machine_room()});
    } catch (...) {
      notices.end();
      throw;
    }
  };
  launched.ran = run(plan.wanted, [&](const Trial& trial) { return trial.role == first; });
  if (!has_phases) return launched;
  std::optional<MostFailures> left;
  for (;;) {  // each further round runs the values that grid.tune.widen adds
    left = left_of(asked.max_failures, launched.ran);
    if (launched.ran.interrupted) return notices.end(), launched;
    if (asked_to_stop != 0) return notices.end(), launched.ran.interrupted = true, launched;
    const auto before = choice;
    choice = DevChoice(plan.study, plan.planned, asked.database);
    if (!left || choice.added_values() == before.added_values()) break;
    note(fmt::format("{}: {}", db::one_row(plan.study.name), choice.text()));
    notices.begin_next(launched.ran);
    how.max_failures = *left;
    add(run(plan.named, [&](const Trial& trial) { return trial.role == first && before.leaves_out(trial); }), launched.ran);
  }
  if (!left) {  // too many trials have failed
    auto reported = asked.only.empty() ? choice.awaited(plan.planned) : std::vector<const PlannedTrial*>();
    for (const auto* trial : plan.named)
      if (trial->trial->role != first && !choice.leaves_out(*trial->trial) && !are_done({trial}, store))
        reported.push_back(trial);
    launched.ran.not_started += static_cast<int>(reported.size());
    return notices.end(launched.ran.not_started), launched;
  }
  if (first == Role::kReported && plan.study.longer_factor == 0) return notices.end(), launched;
  if (plan.study.waits_for_dev()) note(fmt::format("{}: {}", db::one_row(plan.study.name), choice.text()));
  is_last = true;
  notices.begin_next(launched.ran);
  how.max_failures = *left;
  add(run(plan.named, [&](const Trial& trial) { return trial.role != first; }), launched.ran);
  return launched;
}

}  // namespace ablate
