// End of a grid's trials, its workers and the grid itself.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/host/scheduler/grid_run.h"
#include "core/records/outcome.h"

namespace ablate {
namespace {

/// Seconds to wait for a locked database. Batch systems kill a run 10 s after their signal, and checkpoints may have used 8 s.
constexpr double kLastWritesInterrupted = 1.5;

}  // namespace

bool GridRun::postpone(int job, const std::string& why) {
  const auto& planned = running_.at(job).planned();
  if (!admission_.may_be_tried_again(planned, running_.size() - 1, clock_s_)) return false;
  leasing_.give_back(planned, running_.at(job).attempt().fence);
  running_.erase(job);
  limits_.forget(job);
  display_.taken_back(job);
  waiting_.push_front(&planned);
  if (!has_noted_room_)
    display_.note(
        fmt::format("warning: there was no room for another trial ({}); it is tried again, beside fewer others", why));
  has_noted_room_ = true;
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
  const auto& planned = trial.planned();
  const bool runs_again = limits_.runs_again(planned, attempt, running_.size() > 1 && !trial.was_over_limit());
  if (runs_again) trial.goes_back();
  ending_ = {.fence = attempt.fence};
  const auto where = recorder_.put(attempt, trial.metrics());  // first, so that a displayed result is already recorded
  const auto ending = std::exchange(ending_, {});
  if (ending.is_late)
    display_.ended_late(job, trial.summary() + where, attempt.wall_s);
  else
    display_.ended(job, attempt.outcome, trial.summary() + where, attempt.wall_s, !runs_again);
  files_.limit(attempt, recorder_);
  limits_.forget(job, attempt.outcome == outcome::kDone ? attempt.peak_resident_bytes : 0);
  if (!ending.is_late) {  // else the other scheduler counts the trial, runs it again, and continues from its checkpoints
    checkpoints_.tidy(trial, running_, recorder_);
    // Checkpoints may be wrong if a plugin's code changed while the trial wrote them.
    if (attempt.outcome != outcome::kDone && !watch_.overwritten(planned.plugins).empty())
      recorder_.remove_checkpoints(attempt.key);
    if (runs_again)
      run_again_alone(planned);
    else
      count(planned, attempt, ending.is_written);
  }
  running_.erase(job);
}

void GridRun::count(const PlannedTrial& planned, const db::Attempt& attempt, bool is_written) {
  if (attempt.outcome == outcome::kOom) give_places_back(planned);
  summary_.done += attempt.outcome == outcome::kDone;
  summary_.failed += counts_as_failed(attempt.outcome);
  if (!is_written) counted_[attempt.fence] = &planned;
  limits_.ended(planned, attempt, summary_, waiting_);
}

void GridRun::count_no_more(const PlannedTrial& planned, const db::Attempt& attempt) {
  summary_.done -= attempt.outcome == outcome::kDone;
  summary_.failed -= counts_as_failed(attempt.outcome);
  summary_.reasons.erase(&planned);
}

void GridRun::run_again_alone(const PlannedTrial& planned) {
  const int others = static_cast<int>(running_.size()) - 1;
  admission_.ran_out_beside(planned, others);
  display_.note(fmt::format(
      "warning: {0} ran out of memory beside {1} other{2}: it runs again, alone, and from now on no more than {1} run "
      "at a time",
      planned.trial->label, others, others == 1 ? "" : "s"));
  waiting_.push_back(&planned);
  // The trial runs last, so that it delays no other trial. But the trial runs first if lack of memory has halved the number of
  // trials at a time. Running it alone then costs less, and may raise the limit again.
  if (admission_.is_halved())
    std::stable_partition(waiting_.begin(), waiting_.end(), [&](const auto* one) { return admission_.has_taken_some(*one); });
}

void GridRun::give_places_back(const PlannedTrial& planned) {
  if (admission_.ran_out_alone(planned) > 0)
    display_.note(fmt::format("{} also ran out of memory alone, so up to {} trials run at a time again", planned.trial->label,
                              admission_.at_a_time()));
}

void GridRun::written(const db::Attempt& attempt, bool in_time) {
  ++written_;
  const auto counted = counted_.extract(attempt.fence);
  const bool is_ending = attempt.fence == ending_.fence;
  const bool ran_to_its_end = attempt.outcome != outcome::kInterrupted && attempt.outcome != outcome::kLost;
  // True if a late attempt's trial must be awaited from the other scheduler. False if the trial is in this run's queue again,
  // or the run ends.
  const bool waits = ran_to_its_end && (is_ending || !counted.empty());
  const bool is_late = leasing_.ended(attempt, in_time, waits);
  if (is_ending) ending_.is_written = true, ending_.is_late |= is_late;  // a rescue may write the attempt twice
  if (is_late && waits && !counted.empty()) count_no_more(*counted.mapped(), attempt);
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
  // The jobs end before the leases do, because no other scheduler may run a trial that still runs here.
  if (executors_.now() != nullptr && !running_.empty()) executor().give_up();
  while (!running_.empty()) {
    auto& [job, trial] = *running_.begin();
    trial.end(outcome, reason, clock_s_ - trial.started_s());
    finish(job);
  }
  write_rest(kLastWritesInterrupted);  // first, because the sender of the signal may not wait for the worker's end
  executors_.end();
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
  auto needed = waiting_;  // also trials that may return from other schedulers
  needed.insert(needed.end(), leasing_.elsewhere().begin(), leasing_.elsewhere().end());
  for (const auto& [fence, one] : counted_) needed.push_back(one);
  if (!needed.empty() && !is_stopping()) load_.load(executors_, needed, watch_);
  if (executors_.now() != nullptr) leasing_.works_with(executor().process());  // a new executor, if loading ended the old one
  tick();
  liveness_.answered(clock_s_);
}

}  // namespace ablate
