// How a grid's trials, its workers and the grid itself end.
#include <fmt/format.h>

#include "core/host/scheduler/grid_run.h"

namespace ablate {
namespace {

constexpr double kLastWrites = 600, kLastWritesInterrupted = 10;  ///< s, for a database that others hold

}  // namespace

bool GridRun::postpone(int job, const std::string& why) {
  const auto& planned = running_.at(job).planned();
  if (!admission_.may_be_tried_again(planned, running_.size() - 1, clock_s_)) return false;
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

void GridRun::finish(int job) {
  auto& trial = running_.at(job);
  trial.has_left(files_.left_by(trial));
  const auto& attempt = trial.attempt();
  const auto where = recorder_.put(attempt, trial.metrics());  // first: a line that tells a result is not its only place
  display_.ended(job, attempt.outcome, trial.summary() + where, attempt.wall_s);
  files_.limit(attempt, recorder_);
  limits_.forget(job, attempt.peak_resident_bytes);
  const auto& planned = trial.planned();
  if (limits_.runs_again(planned, attempt, running_.size() > 1 && !trial.was_over_limit())) {
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
  if (!outcome.empty()) executors_.end();
  const double start_s = clock_s_;
  const auto often = outside_.stops.often();
  recorder_.finish([&] {
    tick();
    display_.refresh();
    return outside_.stops.often() > often || clock_s_ - start_s > (outcome.empty() ? kLastWrites : kLastWritesInterrupted);
  });
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
  if (!waiting_.empty() && !is_stopping()) load_.load(executors_, waiting_, watch_);
  tick();
  liveness_.answered(clock_s_);
}

}  // namespace ablate
