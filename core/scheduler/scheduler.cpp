#include "core/scheduler/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "core/config/metrics.h"
#include "core/scheduler/attempt_in_progress.h"
#include "core/scheduler/display.h"
#include "core/scheduler/library_watch.h"
#include "core/scheduler/recorder.h"
#include "core/scheduler/stop_on_signal.h"
#include "core/scheduler/worker_load.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr int kMostLosses = 3;      ///< workers that died under one trial: then it is the trial's fault
constexpr double kLongestTick = 1;  ///< s; what takes longer, this process was not running, or waited for a lock
constexpr double kLastWrites = 600, kLastWritesInterrupted = 10;  ///< s, for a database that others hold

std::vector<db::Metric> to_store(std::span<const MetricInfo> metrics) {
  std::vector<db::Metric> result;
  for (const auto& metric : metrics) result.push_back({metric.name, metric.unit, metric.direction, metric.description});
  return result;
}

class Scheduler {
 public:
  Scheduler(std::unique_ptr<WorkerClient>& worker, db::Store& store, const RunOptions& options,
            std::deque<const PlannedTrial*> waiting)
      : worker_(worker),
        store_(store),
        options_(options),
        waiting_(std::move(waiting)),
        display_(stderr, static_cast<int>(waiting_.size()), options.jobs, options.silence_s),
        recorder_(store, options.record, [this](const std::string& text) { display_.note(text); }) {}

  RunSummary run() {
    const StopOnSignal stop;
    limit_jobs(worker_->most_jobs(), "file descriptors allow (ulimit -n)");
    load();
    if (options_.record && asked_to_stop == 0) options_.record(store_);
    try {
      while (asked_to_stop == 0 && recorder_.rescued().empty() && !(waiting_.empty() && running_.empty())) step();
    } catch (...) {
      close("interrupted", "the grid ended before it: a worker could not be replaced");
      throw;
    }
    if (!recorder_.rescued().empty()) {
      close("interrupted", "the database was taken away: " + recorder_.why());
      throw Error(recorder_.where_everything_is());
    }
    if (asked_to_stop != 0) {
      summary_.interrupted = true;
      drain();
      close("interrupted", "interrupted by " + who_asked_to_stop());
    } else {
      close("", "");
    }
    if (!recorder_.rescued().empty()) throw Error(recorder_.where_everything_is());
    return summary_;
  }

 private:
  void load() { load_worker(*worker_, waiting_, watch_, std::max(options_.load_s, options_.timeout_s)); }

  void step() {
    start_some();
    try {
      if (const auto event = worker_->next(200)) handle(*event);
      tick();
      give_up_on_stopped_worker();
    } catch (const WorkerEnded& ended) {
      replace_worker(ended.what());
    }
    recorder_.retry();
    show_running();
    display_.refresh();
  }

  /// This scheduler's own time, which stands still while it is stopped or waits.
  void tick() {
    const auto now = std::chrono::steady_clock::now();
    clock_s_ += std::min(kLongestTick, std::chrono::duration<double>(now - last_tick_).count());
    last_tick_ = now;
  }

  void limit_jobs(int most, const char* what) {
    if (options_.jobs <= most) return;
    const auto wished = std::min<std::size_t>(static_cast<std::size_t>(options_.jobs), waiting_.size());
    if (static_cast<int>(wished) > most)
      display_.note(fmt::format("warning: {} trial{} at a time instead of {}: no more is what {}", most, most == 1 ? "" : "s",
                                options_.jobs, what));
    options_.jobs = most;
    display_.limit(most);
  }

  /// A trial that has seen a worker die runs alone, so that the next death tells whether it is the one.
  bool may_start(const PlannedTrial& planned) const {
    const auto suspect = [&](const PlannedTrial& trial) { return losses_.contains(&trial); };
    return running_.empty() || (static_cast<int>(running_.size()) < options_.jobs && !suspect(planned) &&
                                !suspect(running_.begin()->second.planned()));
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
    auto& trial = running_.try_emplace(job, planned, worker_->environment(), clock_s_).first->second;
    display_.started(job, planned.trial->label, evaluation_share({&planned}));
    if (const auto why = watch_.overwritten(planned.plugins); !why.empty()) {
      trial.fail(why);
      return finish(job);
    }
    worker_->send(
        {{"do", "start"}, {"job", job}, {"kind", "trial"}, {"spec", planned.trial->resolved}, {"limit_s", options_.timeout_s}});
  }

  void handle(const json& event) {
    const auto found = running_.find(event.value("job", 0));
    if (found == running_.end()) return;
    auto& [job, trial] = *found;
    if (event.at("event") == "message") {
      trial.take(event.at("data"));
      if (trial.has_progress()) {
        const auto& now = trial.progress();
        display_.progress(job, now.step, now.steps, now.loss, now.accuracy);
      }
    } else if (event.at("event") == "ended") {
      if (event.contains("not_started") && running_.size() > 1) return postpone(job, event.at("not_started"));
      trial.end(event, options_.timeout_s);
      if (trial.attempt().outcome == "done")
        if (const auto why = watch_.overwritten(trial.planned().plugins); !why.empty()) trial.fail(why);
      finish(job);
    }
  }

  /// There was no process or no descriptor for one more.
  void postpone(int job, const std::string& why) {
    waiting_.push_front(&running_.at(job).planned());
    running_.erase(job);
    display_.taken_back(job);
    limit_jobs(static_cast<int>(running_.size()), fmt::format("this machine has room for ({})", why).c_str());
  }

  void finish(int job) {
    const auto& trial = running_.at(job);
    const auto& attempt = trial.attempt();
    const auto accuracy = attempt.results.find("test/accuracy");
    const auto what =
        accuracy != attempt.results.end() ? fmt::format("test/accuracy {:.2f} %", accuracy->second) : attempt.reason;
    display_.ended(job, attempt.outcome, what, attempt.wall_s);
    if (attempt.outcome == "done") {
      ++summary_.done;
    } else if (attempt.outcome != "interrupted") {
      ++summary_.failed;
    }
    recorder_.put(attempt, trial.metrics());
    running_.erase(job);
  }

  void show_running() {
    std::vector<db::RunningTrial> now;
    for (const auto& [job, trial] : running_) now.push_back(trial.running());
    recorder_.show_running(now);
  }

  /// The worker ends a late trial itself, by its own clock. One that is stopped does not, and answers nothing else either.
  void give_up_on_stopped_worker() {
    const bool overdue = options_.timeout_s > 0 && std::any_of(running_.begin(), running_.end(), [&](const auto& entry) {
                           return clock_s_ - entry.second.started_s() > options_.timeout_s + options_.answer_s;
                         });
    if (!overdue) {
      asked_s_ = -1;
    } else if (asked_s_ < 0) {
      asked_s_ = clock_s_;
      worker_->send({{"do", "ping"}});
    } else if (clock_s_ - asked_s_ > options_.answer_s) {
      worker_->give_up();
    }
  }

  /// What has ended already is not interrupted.
  void drain() {
    try {
      while (const auto event = worker_->next(0)) handle(*event);
    } catch (const WorkerEnded&) {
    }
  }

  /// Every running trial gets this outcome, and everything is written.
  void close(const std::string& outcome, const std::string& reason) {
    while (!running_.empty()) {
      auto& [job, trial] = *running_.begin();
      trial.end(outcome, reason, clock_s_ - trial.started_s());
      finish(job);
    }
    if (!outcome.empty()) worker_.reset();
    const double start_s = clock_s_;
    const auto often = asked_to_stop_often;
    recorder_.finish([&] {
      tick();
      display_.refresh();
      return asked_to_stop_often > often || clock_s_ - start_s > (outcome.empty() ? kLastWrites : kLastWritesInterrupted);
    });
    recorder_.show_running({});
  }

  void replace_worker(const std::string& why) {
    const auto reason = fmt::format("the worker ended ({}), and with it every trial that it ran", why);
    std::vector<const PlannedTrial*> back;
    while (!running_.empty()) {
      auto& [job, trial] = *running_.begin();
      const auto* planned = &trial.planned();
      const double wall_s = clock_s_ - trial.started_s();
      if (++losses_[planned] >= kMostLosses) {
        trial.end("failed", reason, wall_s);
      } else {
        trial.end("interrupted", reason, wall_s);
        back.push_back(planned);
        display_.expect_more(1);
      }
      finish(job);
    }
    waiting_.insert(waiting_.begin(), back.begin(), back.end());
    if (!back.empty())
      display_.note(
          fmt::format("warning: {}; {} of them {} run again, alone", reason, back.size(), back.size() == 1 ? "is" : "are"));
    asked_s_ = -1;
    worker_.reset();
    worker_ = std::make_unique<WorkerClient>();
    if (!waiting_.empty()) load();
  }

  std::unique_ptr<WorkerClient>& worker_;
  db::Store& store_;
  RunOptions options_;
  std::deque<const PlannedTrial*> waiting_;
  std::map<int, AttemptInProgress> running_;
  std::map<const PlannedTrial*, int> losses_;  ///< workers that died under a trial
  Display display_;
  Recorder recorder_;
  LibraryWatch watch_;
  RunSummary summary_;
  int last_job_ = 0;
  double clock_s_ = 0, asked_s_ = -1;  ///< asked_s_: since when an answer is missing; negative: none is
  std::chrono::steady_clock::time_point last_tick_ = std::chrono::steady_clock::now();
};

}  // namespace

RunSummary run_trials(const std::vector<PlannedTrial>& planned, std::unique_ptr<WorkerClient>& worker, db::Store& store,
                      const RunOptions& options) {
  std::vector<std::string> keys;
  for (const auto& trial : planned) keys.push_back(trial.key);
  const auto done = store.done(keys);
  std::deque<const PlannedTrial*> waiting;
  for (const auto& trial : planned)
    if (options.again || !done.contains(trial.key)) waiting.push_back(&trial);
  const auto skipped = static_cast<int>(planned.size() - waiting.size());
  RunSummary summary;
  if (!waiting.empty()) {
    store.put_metrics(to_store(process_metrics()));
    summary = Scheduler(worker, store, options, std::move(waiting)).run();
  } else if (options.record) {
    options.record(store);
  }
  summary.skipped += skipped;
  return summary;
}

}  // namespace ablate
