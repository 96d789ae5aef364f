#include "tests/host/simulated/executor.h"

#include <algorithm>
#include <cmath>

#include "core/util/error.h"

namespace ablate::simulated {
namespace {

constexpr int kSegmentationFault = 11, kKilled = 9, kExitCode1 = 1 << 8;  ///< status values of wait()
constexpr double kPong_s = 0.01, kLate_s = 0.5;

nlohmann::json result_of(std::uint64_t seed) {
  const MetricInfo accuracy{"test/accuracy", "%", "max", "share of examples that are right"};
  return to_json(TrialResult{{{accuracy.name, static_cast<double>(seed)}}, accuracy.name, {accuracy}, {}});
}

nlohmann::json progress_at(int step, std::int64_t device_bytes = 0) {
  Progress now{.step = step, .steps = 100, .loss = 0.5, .dev_metric = {}, .dev = std::nan(""), .curve = {}};
  if (device_bytes > 0) now.device_bytes = device_bytes;
  return to_json(now);
}

}  // namespace

Executors Machine::executors() {
  return Executors([this](const Executors::Note&) -> std::unique_ptr<Executor> {
    ++started;
    if (!starts(started)) throw Error("no process for another worker");
    return std::make_unique<SimulatedExecutor>(*this);
  });
}

SimulatedExecutor::SimulatedExecutor(Machine& machine) : machine_(machine) {
  machine.now = this;
  dies(machine.clock.now_s() + machine.lives_s(machine.started), "signal 9 (Killed)");
}

void SimulatedExecutor::dies(double at_s, const std::string& why) {
  if (at_s < dies_s_) dies_s_ = at_s, why_ = why;
}

void SimulatedExecutor::give_up() {
  ++machine_.given_up;
  dies_s_ = machine_.clock.now_s(), why_ = "signal 9 (Killed), because it did not answer";
}

void SimulatedExecutor::send(const Command& command) {
  if (const auto* what = std::get_if<LoadCommand>(&command)) {
    has_data_ = has_data_ || !what->tasks.empty();
    load();
  }
  if (std::holds_alternative<PingCommand>(command)) happens(kPong_s, PongEvent());
  if (const auto* save = std::get_if<SaveCommand>(&command); save != nullptr && machine_.save_s < kNever)
    happens(machine_.save_s, SaidEvent{save->job, to_json(Saved{10})});
  if (const auto* trial = std::get_if<StartCommand>(&command)) start(*trial);
  if (const auto* one = std::get_if<KillCommand>(&command)) kill(one->job);
}

void SimulatedExecutor::kill(int job) {
  if (running_.contains(job)) happens(0, EndedEvent{.job = job, .status = kKilled});
}

void SimulatedExecutor::load() {
  switch (machine_.load(machine_.started)) {
    case Load::kLoads:
      return happens(machine_.load_s, LoadedEvent());
    case Load::kIsRefused:
      return happens(machine_.load_s, RefusedEvent{"its data changed after the study was planned", ExitCode::kUsage, false});
    case Load::kKillsWorker:
      return dies(machine_.clock.now_s() + machine_.load_s, "signal 11 (Segmentation fault)");
    case Load::kHangs:
      return;
  }
}

void SimulatedExecutor::says(const StartCommand& command, const Act& act, double after_s, const nlohmann::json& data) {
  happens(after_s, SaidEvent{command.job, act.way == Act::Way::kGarbled ? nlohmann::json{{"step", "fifty"}} : data});
  if (act.way == Act::Way::kDoubled) happens(act.takes_s + kLate_s, SaidEvent{command.job, data});
}

void SimulatedExecutor::start(const StartCommand& command) {
  const auto seed = from_json<TrialJob>(command.spec).trial.seed;
  auto act = machine_.act(seed, ++machine_.runs[seed]);
  running_[command.job] = seed;
  machine_.most_together = std::max(machine_.most_together, running_.size());
  const bool ends_early = command.limit_s > 0 && (act.end == Act::End::kHangs || act.takes_s > command.limit_s);
  if (!has_data_) act.end = Act::End::kFails, act.why = "a trial whose task was not loaded";
  if (act.end == Act::End::kFindsNoRoom) return happens(0, NotStartedEvent{command.job, "Resource temporarily unavailable"});
  says(command, act, 0, progress_at(0));
  says(command, act, act.takes_s / 2, progress_at(50, act.device_bytes));
  if (ends_early)
    return happens(command.limit_s, EndedEvent{.job = command.job, .status = kKilled, .wall_s = command.limit_s, .late = true});
  if (act.bytes > 0) happens(act.takes_s / 2, SizeEvent{command.job, act.bytes});
  if (act.end == Act::End::kLacksMemory)
    says(command, act, act.takes_s, to_json(Failed{"std::bad_alloc", false, "the host's memory"}));
  if (act.end == Act::End::kAnswers) says(command, act, act.takes_s, result_of(seed));
  if (act.end == Act::End::kFails) says(command, act, act.takes_s, to_json(Failed{act.why, false}));
  ends(command, act);
}

void SimulatedExecutor::ends(const StartCommand& command, const Act& act) {
  const auto moment_s = machine_.clock.now_s() + act.takes_s;
  EndedEvent ended{.job = command.job,
                   .wall_s = act.takes_s,
                   .cpu_s = act.takes_s,
                   .peak_resident_bytes = std::max<std::int64_t>(act.bytes, 1 << 20)};
  switch (act.end) {
    case Act::End::kHangs:
    case Act::End::kFindsNoRoom:
      return;
    case Act::End::kKillsWorker:
      return dies(moment_s, "signal 6 (Aborted)");
    case Act::End::kStopsWorker:
      silent_from_s_ = std::min(silent_from_s_, moment_s);
      return;
    case Act::End::kFails:
    case Act::End::kLacksMemory:
      ended.status = kExitCode1;
      break;
    case Act::End::kCrashes:
      ended.status = kSegmentationFault;
      break;
    case Act::End::kAnswers:
    case Act::End::kSaysNothing:
      break;
  }
  happens(act.takes_s, ended);
  if (act.way == Act::Way::kDoubled) happens(act.takes_s + kLate_s, ended);
}

bool SimulatedExecutor::runs(int job) const {
  return std::none_of(due_.begin(), due_.end(), [&](const auto& one) {
    return one.first <= machine_.clock.now_s() && std::holds_alternative<EndedEvent>(one.second) && job_of(one.second) == job;
  });
}

std::set<std::uint64_t> SimulatedExecutor::running() const {
  std::set<std::uint64_t> seeds;
  if (dies_s_ <= machine_.clock.now_s()) return seeds;
  for (const auto& [job, seed] : running_)
    if (runs(job)) seeds.insert(seed);
  return seeds;
}

void SimulatedExecutor::is_killed(std::uint64_t seed) {
  for (const auto& [job, of] : running_) {
    if (of != seed || !runs(job)) continue;
    std::erase_if(due_, [&, job = job](const auto& one) { return job_of(one.second) == job; });
    happens(0, EndedEvent{.job = job, .status = kKilled, .wall_s = 1, .killed = "nobody knows by whom"});
  }
}

double SimulatedExecutor::event_s() const {
  if (due_.empty() || due_.begin()->first >= silent_from_s_) return kNever;
  return std::max(due_.begin()->first, stopped_until_s_);
}

std::optional<Event> SimulatedExecutor::next(int timeout_ms) {
  auto& clock = machine_.clock;
  const double until_s = clock.now_s() + timeout_ms / 1000.0;
  clock.wait_until(std::min({event_s(), dies_s_, until_s}));
  const double moment_s = event_s();  // may have changed, because other schedulers ran meanwhile
  if (std::min(moment_s, dies_s_) > clock.now_s()) return std::nullopt;
  if (dies_s_ <= moment_s) throw WorkerEnded(why_);
  auto event = due_.extract(due_.begin()).mapped();
  if (std::holds_alternative<EndedEvent>(event) || std::holds_alternative<NotStartedEvent>(event))
    running_.erase(job_of(event));
  return event;
}

}  // namespace ablate::simulated
