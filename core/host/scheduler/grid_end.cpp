// How a grid's trials, its workers and the grid itself end.
#include <fmt/format.h>

#include "core/host/scheduler/grid_run.h"
#include "core/records/outcome.h"

namespace ablate {
namespace {

constexpr double kLastWritesInterrupted = 10;  ///< s, for a database that others hold

}  // namespace

bool GridRun::postpone(int job, const std::string& why) {
  const auto& planned = running_.at(job).planned();
  if (!admission_.may_be_tried_again(planned, running_.size() - 1, clock_s_)) return false;
  leasing_.give_back(planned, running_.at(job).attempt().fence);
  running_.erase(job);
  limits_.forget(job);
  display_.taken_back(job);
  waiting_.push_front(&planned);
  if (!told_of_room_)
    display_.note(
        fmt::format("warning: there was no room for one more trial ({}); it is tried again, beside fewer others", why));
  told_of_room_ = true;
  return true;
}

bool GridRun::has_stopped() const {
  using How = StopRequests::How;
  const auto how = outside_.stops.how();
  if (running_.empty() || how == How::kAtOnce) return true;
  return how == How::kSaves && (!checkpoints_.are_written() || checkpoints_.have_answered(running_, clock_s_));
}

void GridRun::finish(int job) {
  auto& trial = running_.at(job);
  auto left = files_.left_by(trial);
  checkpoints_.add_left(trial, left);
  trial.has_left(std::move(left));
  const auto& attempt = trial.attempt();
  const bool again = limits_.runs_again(trial.planned(), attempt, running_.size() > 1 && !trial.was_over_limit());
  if (again) again_.insert(attempt.fence);
  const auto where = recorder_.put(attempt, trial.metrics());  // first: a line that tells a result is not its only place
  display_.ended(job, attempt.outcome, trial.summary() + where, attempt.wall_s);
  files_.limit(attempt, recorder_);
  checkpoints_.tidy(trial, running_, recorder_);
  limits_.forget(job, attempt.peak_resident_bytes);
  const auto& planned = trial.planned();
  if (again) {
    admission_.run_alone(planned);
    admission_.limit(static_cast<int>(running_.size()) - 1);
    display_.note(
        fmt::format("warning: {} ran out of memory beside {} other{}: from now on there are at most so many at a time; it runs "
                    "again, alone",
                    planned.trial->label, running_.size() - 1, running_.size() == 2 ? "" : "s"));
    waiting_.push_back(&planned);
    display_.expect_more(1);
  } else {
    summary_.done += attempt.outcome == outcome::kDone;
    summary_.failed += counts_as_failed(attempt.outcome);
    display_.expect_more(-limits_.ended(planned, attempt, summary_, waiting_));
  }
  running_.erase(job);
}

void GridRun::written(const db::Attempt& attempt, bool in_time) {
  // Else it is in the queue, or nobody waits for it any more.
  const bool ran_to_its_end =
      attempt.outcome != outcome::kInterrupted && attempt.outcome != outcome::kLost && !again_.contains(attempt.fence);
  if (!leasing_.ended(attempt, in_time, ran_to_its_end) || !ran_to_its_end) return;
  summary_.done -= attempt.outcome == outcome::kDone;  // it is the other's to count
  summary_.failed -= counts_as_failed(attempt.outcome);
  display_.expect_more(1);
}

void GridRun::drain() try {
  while (executors_.now() != nullptr && !running_.empty()) {
    const auto event = executor().next(0);
    if (!event) return;
    handle(*event);
  }
} catch (const WorkerEnded&) {
}

void GridRun::close(std::string_view outcome, const std::string& reason) {
  while (!running_.empty()) {
    auto& [job, trial] = *running_.begin();
    trial.end(outcome, reason, clock_s_ - trial.started_s());
    finish(job);
  }
  executors_.end();
  write_rest(kLastWritesInterrupted);
  leasing_.end();
}

void GridRun::write_rest(double longest_s) {
  const double start_s = clock_s_;
  const auto often = outside_.stops.often();
  recorder_.finish([&] {
    tick();
    display_.refresh();
    return outside_.stops.often() > often || clock_s_ - start_s > longest_s;
  });
  recorder_.tidy_checkpoints({});
}

void GridRun::replace_worker(const std::string& why) {
  tick();
  const auto reason = fmt::format("the worker ended ({}), and with it every trial that it ran", why);
  std::vector<const PlannedTrial*> back;
  while (!running_.empty()) {
    auto& [job, trial] = *running_.begin();
    const auto* planned = &trial.planned();
    const double wall_s = clock_s_ - trial.started_s();
    if (admission_.may_run_again(*planned)) {
      trial.end(outcome::kLost, reason, wall_s);
      back.push_back(planned);
      display_.expect_more(1);
    } else {
      trial.end(outcome::kFailed, reason, wall_s);
    }
    finish(job);
  }
  waiting_.insert(waiting_.begin(), back.begin(), back.end());
  if (!back.empty())
    display_.note(
        fmt::format("warning: {}; {} of them {} run again, alone", reason, back.size(), back.size() == 1 ? "is" : "are"));
  executors_.replace([this](const std::string& text) { display_.note(text); });
  if (executors_.now() != nullptr) leasing_.works_with(executor().process());
  if (!waiting_.empty() && !is_stopping()) load_.load(executors_, waiting_, watch_);
  tick();
  liveness_.answered(clock_s_);
}

}  // namespace ablate
