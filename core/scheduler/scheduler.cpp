#include "core/scheduler/scheduler.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <set>

#include "core/config/metrics.h"
#include "core/scheduler/display.h"
#include "core/scheduler/library_watch.h"
#include "core/scheduler/stop_on_signal.h"

namespace ablate {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr double kMiB = 1024.0 * 1024.0;

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::vector<db::Metric> to_store(std::span<const MetricInfo> metrics) {
  std::vector<db::Metric> result;
  for (const auto& metric : metrics) result.push_back({metric.name, metric.unit, metric.direction, metric.description});
  return result;
}

struct Running {
  const PlannedTrial* planned;
  db::Attempt attempt;
  std::string failed;  ///< the trial's own words
  bool timed_out = false;
  bool has_result = false;
  Clock::time_point start;
};

class Scheduler {
 public:
  Scheduler(std::unique_ptr<WorkerClient>& worker, db::Store& store, const RunOptions& options,
            std::deque<const PlannedTrial*> waiting)
      : worker_(worker),
        store_(store),
        options_(options),
        waiting_(std::move(waiting)),
        display_(stderr, static_cast<int>(waiting_.size()), options.jobs) {}

  RunSummary run() {
    const StopOnSignal stop;
    load();
    if (options_.record && asked_to_stop == 0) options_.record();
    while (!waiting_.empty() || !running_.empty()) {
      if (asked_to_stop != 0) {
        interrupt();
        break;
      }
      while (!waiting_.empty() && static_cast<int>(running_.size()) < options_.jobs) start(*waiting_.front());
      try {
        if (const auto event = worker_->next(200)) handle(*event);
        end_late();
        display_.refresh();
      } catch (const WorkerEnded& ended) {
        replace_worker(ended.what());
      }
    }
    return summary_;
  }

 private:
  /// Everything that any waiting trial needs is loaded before the first fork, so that a trial starts in milliseconds.
  void load() {
    json libraries = json::array(), tasks = json::array(), hashes = json::object();
    bool cuda = false;
    for (const auto* planned : waiting_) {
      for (const auto& plugin : planned->plugins) {
        if (hashes.contains(plugin.path)) continue;
        hashes[plugin.path] = plugin.content_hash;
        libraries.push_back(plugin.path);
        watch_.remember({plugin});
      }
      const auto& resolved = planned->trial->resolved;
      if (std::find(tasks.begin(), tasks.end(), resolved.at("task")) == tasks.end()) tasks.push_back(resolved.at("task"));
      cuda = cuda || resolved.at("train").at("device").get<std::string>().starts_with("cuda");
    }
    worker_->send({{"do", "load"}, {"libraries", libraries}, {"hashes", hashes}, {"tasks", tasks}, {"cuda", cuda}});
    const double limit_s = std::max(options_.load_s, options_.timeout_s);
    const auto start = Clock::now();
    try {
      for (;;) {
        const auto event = worker_->next(1000);
        if (asked_to_stop != 0) return;
        if (std::chrono::duration<double>(Clock::now() - start).count() > limit_s)
          throw Error(
              fmt::format("the worker did not load the study's plugins and data within {:g} s, though each was loaded by "
                          "itself before: a load() that hangs with one thread or with a cache?",
                          limit_s),
              ExitCode::kPlugin);
        if (!event) continue;
        if (event->at("event") == "loaded") return;
        if (event->at("event") == "refused") throw Error(event->at("reason").get<std::string>(), ExitCode::kPlugin);
      }
    } catch (const WorkerEnded& ended) {
      throw Error(fmt::format("the worker ended while it loaded the study's plugins and data: {}", ended.what()),
                  ExitCode::kPlugin);
    }
  }

  void start(const PlannedTrial& planned) {
    waiting_.pop_front();
    if (!options_.again && !store_.done({planned.key}).empty()) {  // by another process, in the meantime
      ++summary_.skipped;
      return display_.skipped();
    }
    const int job = ++last_job_;
    for (const auto& library : watch_.newly_replaced(planned.plugins))
      display_.note(fmt::format(
          "warning: {} was replaced or deleted; this grid goes on with the code that it has loaded, and records its trials "
          "under that; run the command again for the new one",
          library));
    Running trial{.planned = &planned, .start = Clock::now()};
    trial.attempt.key = planned.key;
    trial.attempt.started_us = now_us();
    trial.attempt.environment = worker_->environment();
    trial.attempt.plugins = planned.plugins;
    running_.emplace(job, std::move(trial));
    display_.started(job, planned.trial->label);
    if (const auto why = watch_.overwritten(planned.plugins); !why.empty()) {
      auto& refused = running_.at(job);
      refused.attempt.outcome = "failed";
      refused.attempt.reason = why;
      return finish(job, refused);
    }
    worker_->send({{"do", "start"}, {"job", job}, {"kind", "trial"}, {"spec", planned.trial->resolved}});
  }

  void handle(const json& event) {
    const auto found = running_.find(event.value("job", 0));
    if (found == running_.end()) return;
    if (event.at("event") == "message") {
      message(found->first, found->second, event.at("data"));
    } else if (event.at("event") == "ended") {
      ended(found->second, event);
      finish(found->first, found->second);
    }
  }

  void message(int job, Running& trial, const json& data) {
    if (data.contains("failed")) {
      trial.failed = data.at("failed");
    } else if (data.contains("results")) {
      trial.has_result = true;
      for (const auto& [name, value] : data.at("results").items()) trial.attempt.results[name] = number(value);
      for (const auto& point : data.at("curve")) trial.attempt.curve.push_back({point.at(0), point.at(1), number(point.at(2))});
      std::vector<db::Metric> metrics;
      for (const auto& m : data.at("metrics"))
        if (known_metrics_.insert(m.at("name")).second)
          metrics.push_back({m.at("name"), m.at("unit"), m.at("direction"), m.at("description")});
      if (!metrics.empty()) store_.put_metrics(metrics);
    } else if (data.contains("step")) {
      display_.progress(job, data.at("step"), data.at("steps"), number(data.at("loss")), number(data.at("accuracy")));
    }
  }

  /// JSON has no NaN: it arrives as null.
  static double number(const json& value) {
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  }

  static void ended(Running& trial, const json& event) {
    auto& attempt = trial.attempt;
    const int status = event.at("status");
    attempt.wall_s = event.at("wall_s"), attempt.cpu_s = event.at("cpu_s");
    attempt.peak_resident_bytes = event.at("peak_resident_bytes");
    attempt.output = event.at("output");
    if (WIFSIGNALED(status)) attempt.signal = WTERMSIG(status);
    if (WIFEXITED(status)) attempt.exit_code = WEXITSTATUS(status);
    const auto why = reason_of(status);
    if (trial.timed_out) {
      attempt.outcome = "timeout";
    } else if (trial.has_result && why.empty()) {
      attempt.outcome = "done";
      attempt.results["memory/peak_resident"] = static_cast<double>(attempt.peak_resident_bytes) / kMiB;
      attempt.results["time/cpu"] = attempt.cpu_s;
      attempt.results["time/wall"] = attempt.wall_s;
    } else {
      attempt.outcome = "failed";
      attempt.reason = !trial.failed.empty() ? trial.failed : why.empty() ? "ended without a result" : why;
      if (WIFSIGNALED(status) && !trial.failed.empty()) attempt.reason += "; then " + why;
    }
  }

  void finish(int job, Running& trial) {
    auto& attempt = trial.attempt;
    if (attempt.outcome == "timeout")
      attempt.reason = fmt::format("ran longer than the {:g} s that the study allows", options_.timeout_s);
    if (attempt.outcome == "done")
      if (attempt.reason = watch_.overwritten(trial.planned->plugins); !attempt.reason.empty()) attempt.outcome = "failed";
    if (attempt.outcome != "done") attempt.results.clear(), attempt.curve.clear();
    store_.put_attempt(attempt);
    const auto accuracy = attempt.results.find("test/accuracy");
    const auto what =
        accuracy != attempt.results.end() ? fmt::format("test/accuracy {:.2f} %", accuracy->second) : attempt.reason;
    display_.ended(job, attempt.outcome, what, attempt.wall_s);
    if (attempt.outcome == "done") {
      ++summary_.done;
    } else if (attempt.outcome != "interrupted") {
      ++summary_.failed;
    }
    running_.erase(job);
  }

  void end_late() {
    if (options_.timeout_s <= 0) return;
    for (auto& [job, trial] : running_) {
      if (trial.timed_out || std::chrono::duration<double>(Clock::now() - trial.start).count() < options_.timeout_s) continue;
      trial.timed_out = true;
      worker_->send({{"do", "kill"}, {"job", job}});
    }
  }

  /// Ends every running trial with one outcome, as far as it is known without the worker.
  void end_all(const std::string& outcome, const std::string& reason) {
    while (!running_.empty()) {
      auto& [job, trial] = *running_.begin();
      trial.attempt.outcome = outcome;
      trial.attempt.reason = reason;
      trial.attempt.wall_s = std::chrono::duration<double>(Clock::now() - trial.start).count();
      finish(job, trial);
    }
  }

  void interrupt() {
    end_all("interrupted", "interrupted by the user");
    summary_.interrupted = true;
    worker_.reset();
  }

  void replace_worker(const std::string& why) {
    end_all("failed", fmt::format("the worker ended ({}), and with it every trial that it ran", why));
    worker_ = std::make_unique<WorkerClient>();
    if (!waiting_.empty()) load();
  }

  std::unique_ptr<WorkerClient>& worker_;
  db::Store& store_;
  RunOptions options_;
  std::deque<const PlannedTrial*> waiting_;
  std::map<int, Running> running_;
  Display display_;
  LibraryWatch watch_;
  RunSummary summary_;
  std::set<std::string> known_metrics_;
  int last_job_ = 0;
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
    options.record();
  }
  summary.skipped += skipped;
  return summary;
}

}  // namespace ablate
