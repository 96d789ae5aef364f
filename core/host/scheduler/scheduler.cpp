#include "core/host/scheduler/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/host/scheduler/admission.h"
#include "core/host/scheduler/attempt_files.h"
#include "core/host/scheduler/display.h"
#include "core/host/scheduler/library_watch.h"
#include "core/host/scheduler/liveness.h"
#include "core/host/scheduler/plan_text.h"
#include "core/host/scheduler/recorder.h"
#include "core/host/scheduler/worker_load.h"
#include "core/shared/metrics.h"

namespace ablate {
namespace {

constexpr double kLongestTick = 1;  ///< s; what takes longer, this process was not running, or waited for a lock
constexpr double kLastWrites = 600, kLastWritesInterrupted = 10;  ///< s, for a database that others hold

class Scheduler {
 public:
  Scheduler(Executors& executors, db::GridStore& store, const RunOptions& options, const Surroundings& outside,
            std::deque<const PlannedTrial*> waiting)
      : executors_(executors),
        options_(options),
        outside_(outside),
        waiting_(std::move(waiting)),
        admission_(options.jobs),
        display_(outside.output, outside.clock, static_cast<int>(waiting_.size()), options.silence_s),
        liveness_(options.answer_s, options.ping_s),
        load_(
            outside, std::max(options.load_s, options.timeout_s), [this](const std::string& text) { display_.note(text); },
            options.forget),
        recorder_(
            store, outside, options.record, [this](const std::string& text) { display_.note(text); }, keys_of(waiting_)),
        files_(store.file(), options.keep_weights, [this](const std::string& text) { display_.note(text); }) {}

  RunSummary run() {
    executors_.need([this](const std::string& text) { display_.note(text); });
    limit_jobs();
    load_.load(executors_, waiting_, watch_);
    tick();
    if (!is_stopping()) recorder_.begin();
    try {
      // Where the database is gone, what runs may come to its end, and goes where the rest has gone.
      while (!is_stopping() && !(running_.empty() && (waiting_.empty() || recorder_.is_elsewhere()))) step();
    } catch (...) {
      close("interrupted", "the grid ended before it: a worker could not be replaced");
      throw;
    }
    if (is_stopping()) {
      summary_.interrupted = true;
      drain();
      close("interrupted", "interrupted by " + outside_.stops.who());
    } else {
      close("", "");
    }
    if (recorder_.is_elsewhere()) throw Error(recorder_.where_everything_is());
    return summary_;
  }

 private:
  void step() {
    if (!recorder_.is_elsewhere()) start_some();
    show_running();  // now, when there is something unless the grid ends: who watches it takes nothing for its end
    try {
      if (const auto event = executor().next(200)) handle(*event);
      tick();
      give_up_on_stopped_worker();
    } catch (const WorkerEnded& ended) {
      replace_worker(ended.what());
    }
    recorder_.retry();
    display_.refresh();
  }

  bool is_stopping() const { return outside_.stops.any(); }
  Executor& executor() { return *executors_.now(); }

  /// This scheduler's own time, which stands still while it is stopped or waits.
  void tick() {
    const double now_s = outside_.clock.now_s();
    clock_s_ += std::min(kLongestTick, now_s - last_tick_s_);
    last_tick_s_ = now_s;
  }

  void limit_jobs() {
    const int most = executor().most_jobs();
    if (std::min<std::size_t>(waiting_.size(), static_cast<std::size_t>(admission_.jobs())) > static_cast<std::size_t>(most))
      display_.note(
          fmt::format("warning: {} trials at a time instead of {}: no more is what file descriptors allow (ulimit -n)", most,
                      admission_.jobs()));
    admission_.limit(most);
  }

  bool may_start(const PlannedTrial& next) {
    return admission_.may_start(next, running_.size(), running_.empty() ? nullptr : &running_.begin()->second.planned(),
                                clock_s_);
  }

  void start_some() {
    while (!waiting_.empty() && may_start(*waiting_.front())) {
      if (!options_.again) {
        const auto done = recorder_.is_done(waiting_.front()->key);  // by another process, in the meantime
        if (!done) return;
        if (*done) {
          ++summary_.skipped;
          display_.skipped();
          waiting_.pop_front();
          continue;
        }
      }
      const auto& planned = *waiting_.front();
      waiting_.pop_front();
      start(planned);
    }
  }

  void start(const PlannedTrial& planned) {
    const int job = ++last_job_;
    for (const auto& library : watch_.newly_replaced(planned.plugins))
      display_.note(fmt::format(
          "warning: {} was replaced or deleted; this grid goes on with the code that it has loaded, and records its trials "
          "under that; run the command again for the new one",
          library));
    const auto now_us = outside_.clock.since_1970_us();
    auto& trial =
        running_.try_emplace(job, planned, executor().environment(), clock_s_, now_us, options_.verdicts).first->second;
    display_.started(job, planned.trial->label, evaluation_share({&planned}));
    auto why = load_.refusal(planned);
    if (why.empty()) why = watch_.overwritten(planned.plugins);
    if (!why.empty()) {
      trial.fail(why);
      return finish(job);
    }
    const TrialJob spec{planned.trial->spec, planned_files(*planned.trial, "attention"), files_.weights_of(trial.attempt())};
    executor().send(StartCommand{job, TrialJob::kName, to_json(spec), options_.timeout_s, files_.output_of(trial.attempt())});
  }

  void handle(const Event& event) {
    liveness_.answered(clock_s_);
    const auto found = running_.find(job_of(event));
    if (found == running_.end()) return;
    auto& [job, trial] = *found;
    if (const auto* said = std::get_if<SaidEvent>(&event)) {
      trial.take(said->data);
      if (trial.has_progress()) display_.progress(job, trial.progress());
      return;
    }
    if (const auto* none = std::get_if<NotStartedEvent>(&event); none != nullptr && postpone(job, none->not_started)) return;
    trial.end(event, options_.timeout_s);
    if (trial.attempt().outcome == "done")
      if (const auto why = watch_.overwritten(trial.planned().plugins); !why.empty()) trial.fail(why);
    finish(job);
  }

  /// There was no process or no descriptor for one more. @return whether it is tried again
  bool postpone(int job, const std::string& why) {
    const auto& planned = running_.at(job).planned();
    if (!admission_.may_be_tried_again(planned, running_.size() - 1, clock_s_)) return false;
    running_.erase(job);
    display_.taken_back(job);
    waiting_.push_front(&planned);
    if (!told_of_room_)
      display_.note(
          fmt::format("warning: there was no room for one more trial ({}); it is tried again, beside fewer others", why));
    told_of_room_ = true;
    return true;
  }

  void finish(int job) {
    auto& trial = running_.at(job);
    trial.has_left(files_.left_by(trial));
    const auto& attempt = trial.attempt();
    const auto where = recorder_.put(attempt, trial.metrics());  // first: a line that tells a result is not its only place
    display_.ended(job, attempt.outcome, trial.summary() + where, attempt.wall_s);
    files_.limit(attempt, recorder_);
    if (attempt.outcome == "done")
      ++summary_.done;
    else if (attempt.outcome != "interrupted")
      ++summary_.failed;
    running_.erase(job);
  }

  void show_running() {
    std::vector<db::RunningTrial> now;
    for (const auto& [job, trial] : running_) now.push_back(trial.running());
    recorder_.show_running(now);
  }

  /// The worker ends a late trial itself, by its own clock. One that answers nothing, whatever its trials do, is stopped.
  void give_up_on_stopped_worker() {
    const bool overdue = options_.timeout_s > 0 && std::any_of(running_.begin(), running_.end(), [&](const auto& entry) {
                           return clock_s_ - entry.second.started_s() > options_.timeout_s + options_.answer_s;
                         });
    const auto next = liveness_.look(overdue, clock_s_);
    if (next == Liveness::Next::kAsk) executor().send(PingCommand());
    if (next == Liveness::Next::kGiveUp) executor().give_up();
  }

  /// What has ended already is not interrupted.
  void drain() try {
    while (executors_.now() != nullptr && !running_.empty()) {
      const auto event = executor().next(0);
      if (!event) return;
      handle(*event);
    }
  } catch (const WorkerEnded&) {
  }

  /// Every running trial gets this outcome, and everything is written.
  void close(const std::string& outcome, const std::string& reason) {
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

  void replace_worker(const std::string& why) {
    tick();
    const auto reason = fmt::format("the worker ended ({}), and with it every trial that it ran", why);
    std::vector<const PlannedTrial*> back;
    while (!running_.empty()) {
      auto& [job, trial] = *running_.begin();
      const auto* planned = &trial.planned();
      const double wall_s = clock_s_ - trial.started_s();
      if (admission_.may_run_again(*planned)) {
        trial.end("interrupted", reason, wall_s);
        back.push_back(planned);
        display_.expect_more(1);
      } else {
        trial.end("failed", reason, wall_s);
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

  Executors& executors_;
  RunOptions options_;
  Surroundings outside_;
  std::deque<const PlannedTrial*> waiting_;
  std::map<int, AttemptInProgress> running_;
  Admission admission_;
  Display display_;
  Liveness liveness_;
  WorkerLoad load_;
  Recorder recorder_;
  AttemptFiles files_;
  LibraryWatch watch_;
  RunSummary summary_;
  bool told_of_room_ = false;
  int last_job_ = 0;
  double clock_s_ = 0;
  double last_tick_s_ = outside_.clock.now_s();
};

}  // namespace

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
    summary = Scheduler(executors, store, options, outside, std::move(waiting)).run();
  } else if (options.record) {
    options.record(store);
  }
  summary.skipped += skipped;
  return summary;
}

}  // namespace ablate
