#include "core/host/scheduler/attempt_in_progress.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <random>

#include "core/records/outcome.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr double kMiB = 1024.0 * 1024.0;

/// Returns "24.8 ms", "2.85 s".
std::string milliseconds(double ms) { return ms < 999.5 ? fmt::format("{:.3g} ms", ms) : fmt::format("{:.2f} s", ms / 1000); }

/// Returns 128 random bits, which identify an attempt in every history.
std::string new_uid() {
  static std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

}  // namespace

AttemptInProgress::AttemptInProgress(const PlannedTrial& planned, const json& environment, double clock_s,
                                     std::int64_t started_us, const VerdictMemory& verdicts)
    : planned_(&planned), started_s_(clock_s) {
  attempt_.uid = new_uid();
  attempt_.key = planned.key;
  attempt_.resolved = planned.trial->resolved();
  attempt_.started_us = started_us;
  attempt_.environment = environment;
  attempt_.plugins = planned.plugins;
  for (auto& plugin : attempt_.plugins) {
    const auto kept = verdicts.find({plugin.kind, plugin.id, plugin.code_identity});
    plugin.verdict = {kept.verdict, kept.failed_text(), kept.lengths};
  }
}

db::RunningTrial AttemptInProgress::running() const {
  return {attempt_.key, attempt_.started_us, attempt_.step, attempt_.steps, progress_.loss};
}

void AttemptInProgress::take(const json& data) {
  has_progress_ = false;
  try {
    if (heard_.take(data)) read(data);
  } catch (const BadMessage& error) {
    heard_.refuse(fmt::format("it sent a message of an unknown kind: {}", one_line(data.dump(), 80)));
  }
}

void AttemptInProgress::read(const json& data) {
  std::visit([this]<class Said>(Said&& one) { hear(std::forward<Said>(one)); }, trial_said_from_json(data));
}

void AttemptInProgress::hear(const CurvePart& curve) {
  metrics_.insert(metrics_.end(), curve.metrics.begin(), curve.metrics.end());
  attempt_.curve.insert(attempt_.curve.end(), curve.points.begin(), curve.points.end());
}

void AttemptInProgress::hear(TrialResult result) {
  hear(result.curve);
  metrics_.insert(metrics_.end(), result.metrics.begin(), result.metrics.end());
  attempt_.results = std::move(result.values);
  attempt_.main_metric = std::move(result.main_metric);
  if (const auto& main = attempt_.main_metric; !attempt_.results.contains(main))
    heard_.refuse(fmt::format("its main metric {} is not among its results", one_line(main, 80)));
  heard_.answered();
}

void AttemptInProgress::hear(Progress progress) {
  hear(progress.curve);
  progress_ = std::move(progress);
  attempt_.step = progress_.step, attempt_.steps = progress_.steps;
  has_progress_ = true;
}

void AttemptInProgress::hear(Resumed resumed) {
  before_ = std::move(resumed);
  resumed_ = before_;
  if (!is_resumed()) return;
  auto& record = attempt_.environment["resumed"] = {{"step", before_.step}, {"attempt", before_.owner}};
  if (!before_.environments.empty()) record["environments"] = before_.environments;
}

void AttemptInProgress::hear(const Saved& saved) {
  saved_ = saved;
  ++saves_;
}

void AttemptInProgress::add_spent_before() {
  attempt_.wall_s += before_.wall_s, attempt_.cpu_s += before_.cpu_s;
  attempt_.peak_resident_bytes = std::max(attempt_.peak_resident_bytes, before_.peak_resident_bytes);
}

void AttemptInProgress::end(const Event& event, double timeout_s, std::int64_t memory_bytes) {
  if (const auto* ended = std::get_if<EndedEvent>(&event)) {
    attempt_.wall_s = ended->wall_s, attempt_.cpu_s = ended->cpu_s;
    attempt_.peak_resident_bytes = ended->peak_resident_bytes;
    add_spent_before();
    attempt_.output = ended->output;
    printed_ = ended->printed, unkept_ = ended->unkept;
    was_over_limit_ = !ended->memory.empty() && ended->killed.empty();  // else `killed` has the cause
    if (WIFSIGNALED(ended->status)) attempt_.signal = WTERMSIG(ended->status);
    if (WIFEXITED(ended->status)) attempt_.exit_code = WEXITSTATUS(ended->status);
  }
  if (const auto outcome = heard_.end(event)) {
    was_over_limit_ = was_over_limit_ || (memory_bytes > 0 && outcome->was_refused_host);
    end(*outcome, timeout_s);
  }
}

void AttemptInProgress::end(const JobOutcome& outcome, double timeout_s) {
  using How = JobOutcome::How;
  if (outcome.done()) return end_done();
  if (outcome.how == How::kSilent) return fail("ended without a result");
  fail(outcome.signal.empty() ? outcome.why : outcome.why + "; then " + outcome.signal);
  if (outcome.of_memory) attempt_.outcome = outcome::kOom;
  if (outcome.how == How::kNotStarted) attempt_.outcome = outcome::kRefused;
  if (!outcome.late()) return;
  attempt_.outcome = outcome::kTimeout;
  attempt_.reason = fmt::format("ran longer than the {:g} s of its time limit", timeout_s);
}

void AttemptInProgress::end_done() {
  attempt_.outcome = outcome::kDone;
  attempt_.results["memory/peak_resident"] = static_cast<double>(attempt_.peak_resident_bytes) / kMiB;
  attempt_.results["time/cpu"] = attempt_.cpu_s;
  attempt_.results["time/wall"] = attempt_.wall_s;
}

void AttemptInProgress::end(std::string_view outcome, const std::string& reason, double wall_s) {
  attempt_.outcome = outcome, attempt_.reason = reason, attempt_.wall_s = wall_s;
  if (saves_ > 0 && saved_.failed.empty()) attempt_.reason += fmt::format("; the trial can resume after step {}", saved_.step);
  add_spent_before();
  attempt_.results.clear();
}

std::string AttemptInProgress::summary() const {
  if (attempt_.outcome != outcome::kDone) return attempt_.reason;
  std::string text;
  auto main = attempt_.main_metric;
  if (planned_->trial->cell && main.starts_with("test/")) main.replace(0, 4, "dev");
  if (const auto found = attempt_.results.find(main); found != attempt_.results.end()) {
    const auto info = std::find_if(metrics_.begin(), metrics_.end(), [&](const auto& metric) { return metric.name == main; });
    const auto unit = info == metrics_.end() ? std::string() : info->unit;
    text = unit == "%" ? fmt::format("{} {:.2f} %", main, found->second)
                       : fmt::format("{} {:.4g}{}{}", main, found->second, unit.empty() ? "" : " ", unit);
  }
  if (const auto found = attempt_.results.find("train/step_time"); found != attempt_.results.end())
    text += fmt::format("{}{} a step", text.empty() ? "" : ", ", milliseconds(found->second));
  return text;
}

void AttemptInProgress::fail(const std::string& reason, std::string_view outcome) {
  attempt_.outcome = outcome, attempt_.reason = reason;
  attempt_.results.clear();
}

}  // namespace ablate
