#include "core/host/scheduler/grid_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/host/scheduler/plan_text.h"

namespace ablate {
namespace {

constexpr double kLastWrites = 600;  ///< s; longest wait for a locked database
constexpr double kLongestTick = 1;   ///< s; a longer tick shows that this process was stopped, or waited for a lock

}  // namespace

GridRun::GridRun(Executors& executors, db::GridStore& store, const RunOptions& options, const Surroundings& outside,
                 std::deque<const PlannedTrial*> waiting, const db::Leases& seen, RunSummary before)
    : executors_(executors),
      options_(options),
      outside_(outside),
      waiting_(std::move(waiting)),
      admission_(options.at_a_time),
      display_(
          outside.output, outside.clock,
          [this] {
            return Display::Rest{waiting_.size(), leasing_.elsewhere().size()};
          },
          options.silence_s),
      liveness_(options.answer_s, options.ping_s),
      load_(
          outside, std::max(options.load_s, options.timeout_s), [this](const std::string& text) { display_.note(text); },
          options.forget,
          [this] {
            if (begun_) show_running();
          }),
      recorder_(
          store, outside, options.record, [this](const std::string& text) { display_.note(text); },
          [this](const db::Attempt& attempt, bool in_time) { written(attempt, in_time); }),
      leasing_(recorder_, store, outside, options.again, seen, [this](const std::string& text) { display_.note(text); }),
      files_(store.file(), options.keep_weights, [this](const std::string& text) { display_.note(text); }),
      checkpoints_(store.file(), options.checkpoint_s, options.again, [this](const std::string& text) { display_.note(text); }),
      limits_(options, outside, store.file(), waiting_.size(), [this](const std::string& text) { display_.note(text); }),
      summary_(std::move(before)),
      last_tick_s_(outside.clock.now_s()) {}

void GridRun::remember(const PlannedTrial& trial, const db::PastTries& past, bool alone) {
  limits_.remember(trial, past);
  if (alone) admission_.run_alone(trial);
}

bool GridRun::step() {
  if (!begun_) begin();
  try {
    if (!is_over()) advance();
  } catch (const std::exception& error) {
    close(outcome::kInterrupted, fmt::format("the grid ended before the trial ended: {}", error.what()));
    report_rescue();
    if (!recorder_.is_elsewhere()) throw;
    throw Error(fmt::format("{}. {}", error.what(), recorder_.where_everything_is()));
  }
  return !is_over() || !end();
}

void GridRun::begin() {
  executors_.need([this](const std::string& text) { display_.note(text); });
  limit_jobs();
  load_.load(executors_, waiting_, watch_);
  tick();
  if (!is_stopping()) {
    leasing_.begin();
    try {
      recorder_.begin();
    } catch (...) {
      leasing_.end();
      throw;
    }
    leasing_.works_with(executor().process());
  }
  begun_ = true;
}

/// If the database is gone, running trials may end normally, and their results go into another file (rescued()).
bool GridRun::is_over() const {
  const bool none_left = waiting_.empty() && leasing_.elsewhere().empty();
  return is_stopping() ? has_stopped() : running_.empty() && (none_left || recorder_.is_elsewhere());
}

bool GridRun::end() {
  if (is_stopping()) {
    summary_.interrupted = true;
    drain();
    close(outcome::kInterrupted, "interrupted by " + outside_.stops.who());
  } else {
    write_rest(kLastWrites);
    if (!leasing_.elsewhere().empty() && !recorder_.is_elsewhere()) return false;
    leasing_.end();
  }
  report_rescue();
  if (recorder_.is_elsewhere()) throw Error(recorder_.where_everything_is());
  return true;
}

void GridRun::report_rescue() {
  if (recorder_.is_elsewhere()) limits_.rescued(recorder_.rescued(), recorder_.where_everything_is(), summary_);
}

void GridRun::advance() {
  leasing_.keep_slot();
  if (!recorder_.is_elsewhere() && !is_stopping()) look_elsewhere();
  if (outside_.stops.how() == StopRequests::How::kSaves) checkpoints_.ask(running_, executor(), clock_s_);
  show_running();  // here, because some trials are running at this point unless the grid ends
  try {
    if (const auto event = executor().next(200)) handle(*event);
    tick();
    for (const int job : limits_.newly_stalled(clock_s_)) executor().send(KillCommand{job});
    give_up_on_stopped_worker();
  } catch (const WorkerEnded& ended) {
    replace_worker(ended.what());
  }
  recorder_.retry();
  report_rescue();
  if (options_.after_step) options_.after_step(written_);
  display_.refresh();
}

void GridRun::tick() {
  const double now_s = outside_.clock.now_s();
  clock_s_ += std::min(kLongestTick, now_s - last_tick_s_);
  last_tick_s_ = now_s;
}

void GridRun::limit_jobs() {
  const int most = executor().most_jobs();
  if (std::min<std::size_t>(waiting_.size(), static_cast<std::size_t>(admission_.at_a_time())) > static_cast<std::size_t>(most))
    display_.note(fmt::format("warning: {} trials at a time instead of {}: file descriptors allow no more (ulimit -n)", most,
                              admission_.at_a_time()));
  admission_.limit(most);
}

void GridRun::show_running() {
  if (!recorder_.is_to_show()) return;
  std::vector<db::RunningTrial> now;
  for (const auto& [job, trial] : running_) now.push_back(trial.running());
  recorder_.show_running(now);
}

void GridRun::give_up_on_stopped_worker() {
  const bool overdue = options_.timeout_s > 0 && std::any_of(running_.begin(), running_.end(), [&](const auto& entry) {
                         return clock_s_ - entry.second.started_s() > options_.timeout_s + options_.answer_s;
                       });
  const auto next = liveness_.look(overdue, clock_s_);
  if (next == Liveness::Next::kAsk) executor().send(PingCommand());
  if (next == Liveness::Next::kGiveUp) executor().give_up();
}

bool GridRun::may_start(const PlannedTrial& next) {
  return admission_.may_start(next, running_.size(), running_.empty() ? nullptr : &running_.begin()->second.planned(),
                              clock_s_) &&
         limits_.have_room(next, clock_s_);
}

void GridRun::look_elsewhere() {
  take_back(leasing_.freed());
  start_some();
  const auto elsewhere = leasing_.elsewhere().size();
  if (elsewhere == 0 || !running_.empty() || !waiting_.empty() || std::exchange(has_noted_others_, true)) return;
  display_.note(fmt::format("{} trial{} run{} elsewhere: waiting for {}", elsewhere, elsewhere == 1 ? "" : "s",
                            elsewhere == 1 ? "s" : "", elsewhere == 1 ? "it" : "them"));
}

void GridRun::take_back(std::vector<const PlannedTrial*> freed) {
  if (freed.empty()) return;
  std::vector<std::string> keys;
  for (const auto* one : freed) keys.push_back(one->key);
  std::map<std::string, db::PastTries> past;
  recorder_.use([&](db::GridStore& store) { past = store.tries(keys); });
  const auto alone = std::stable_partition(freed.begin(), freed.end(), [&](const PlannedTrial* one) {
    const auto found = past.find(one->key);
    return found == past.end() || learn(*one, found->second) != Retry::What::kRunsAlone;
  });
  waiting_.insert(waiting_.begin(), freed.begin(), alone);
  waiting_.insert(waiting_.end(), alone, freed.end());
}

Retry::What GridRun::learn(const PlannedTrial& planned, const db::PastTries& past) {
  const auto what = options_.again ? Retry::What::kRuns : retry_of(past.outcomes, options_.retry).what;
  remember(planned, past, what == Retry::What::kRunsAlone);
  return what;
}

void GridRun::start_leased(const PlannedTrial& planned, const db::LeaseAnswer& lease) {
  const auto what = lease.past.outcomes.empty() ? Retry::What::kRuns : learn(planned, lease.past);
  const bool has_to_wait = what == Retry::What::kRunsAlone && !running_.empty();
  if (what != Retry::What::kIsSetAside && !has_to_wait) return start(planned, lease.fence);
  leasing_.give_back(planned, lease.fence);
  if (has_to_wait)
    waiting_.push_back(&planned);
  else
    ++summary_.failed_elsewhere;
}

void GridRun::start_some() {
  using What = db::LeaseAnswer::What;
  while (!waiting_.empty()) {
    const auto& planned = *waiting_.front();
    if (limits_.is_barred(planned)) {
      if (!leave_out(planned)) return;
      continue;
    }
    if (!may_start(planned)) return;
    const auto lease = leasing_.take(planned);
    if (!lease) return;
    waiting_.pop_front();
    if (lease->what == What::kMine) start_leased(planned, *lease);
    if (lease->what != What::kDone && lease->what != What::kFailed) continue;
    ++(lease->what == What::kDone ? summary_.elsewhere : summary_.failed_elsewhere);
  }
}

bool GridRun::leave_out(const PlannedTrial& planned) {
  const auto is_done = leasing_.is_done(planned);  // a trial that ran elsewhere may be done
  if (!is_done) return false;
  waiting_.pop_front();
  if (*is_done) {
    ++summary_.elsewhere;
    return true;
  }
  Limits::Waiting one{&planned};
  limits_.leave_out(one, summary_);
  return true;
}

void GridRun::start(const PlannedTrial& planned, std::int64_t fence) {
  const int job = ++last_job_;
  for (const auto& library : watch_.newly_replaced(planned.plugins))
    display_.note(
        fmt::format("warning: {} was replaced or deleted; this grid goes on with the loaded code, and records its trials under "
                    "that code; run the command again for the new code",
                    library));
  const auto now_us = outside_.clock.since_1970_us();
  auto environment = executor().environment();
  environment["run_for"] = options_.is_bench ? "bench" : "study";
  auto& trial = running_.try_emplace(job, planned, environment, clock_s_, now_us, options_.verdicts).first->second;
  trial.is_leased(fence);
  display_.started(job, planned.trial->label, evaluation_share({&planned}));
  auto why = load_.refusal(planned);
  if (why.empty()) why = watch_.overwritten(planned.plugins);
  if (!why.empty()) {
    trial.fail(why, outcome::kRefused);
    return finish(job);
  }
  const TrialJob spec{planned.trial->spec, planned_files(*planned.trial, TrialSection::kAttention),
                      files_.weights_of(trial.attempt()), checkpoints_.plan_of(trial, executor().environment(), recorder_)};
  StartCommand command{job, TrialJob::kName, to_json(spec), options_.timeout_s, files_.output_of(trial.attempt())};
  limits_.start(planned, command, clock_s_);
  executor().send(command);
}

void GridRun::handle(const Event& event) {
  liveness_.answered(clock_s_);
  const auto found = running_.find(job_of(event));
  if (found == running_.end()) return;
  auto& [job, trial] = *found;
  if (const auto* said = std::get_if<SaidEvent>(&event)) {
    trial.take(said->data);
    checkpoints_.heard(trial);
    if (!trial.has_progress()) return;
    limits_.sign(job, clock_s_);
    if (const auto bytes = trial.progress().device_bytes) limits_.sized_on_device(job, *bytes, trial.attempt().step);
    return display_.progress(job, trial.progress());
  }
  if (const auto* size = std::get_if<SizeEvent>(&event)) return limits_.sized(job, size->bytes, trial.attempt().step);
  if (const auto* none = std::get_if<NotStartedEvent>(&event); none != nullptr && postpone(job, none->not_started)) return;
  trial.end(event, options_.timeout_s, options_.memory_bytes);
  if (const auto why = limits_.why_stalled(job); why && trial.attempt().outcome != outcome::kDone)
    trial.fail(*why, outcome::kStalled);
  if (trial.attempt().outcome == outcome::kDone)
    if (const auto why = watch_.overwritten(trial.planned().plugins); !why.empty()) trial.fail(why, outcome::kRefused);
  finish(job);
}

}  // namespace ablate
