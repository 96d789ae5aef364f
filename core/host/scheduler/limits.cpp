#include "core/host/scheduler/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/records/setting_paths.h"
#include "core/util/bytes_text.h"
#include "core/util/one_line.h"
#include "core/util/without_numbers.h"

namespace ablate {
namespace {

bool is_divergence(const std::string& reason) {
  return reason.find("loss is nan") != std::string::npos || reason.find("loss is inf") != std::string::npos ||
         reason.find("loss is -inf") != std::string::npos;
}

bool contains(const Quarantine::Plugins& all, const Quarantine::Plugins& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

constexpr double kBetweenDiskLooks_s = 1, kBetweenMemoryLooks_s = 0.2;

constexpr double kBetweenDeviceLooks_s = 0.2;

/// Returns one name for each device.
std::string canonical(const std::string& device) { return device == "cuda" ? "cuda:0" : device; }

constexpr std::int64_t kUnlike = 4;  ///< a trial of unknown size counts as this multiple of the largest size so far

/// Returns all settings except the seed.
std::string kind_of(const PlannedTrial& trial) {
  auto settings = trial.identity.settings;
  if (settings.is_object()) settings.erase(setting::kSeed);
  return settings.dump();
}

}  // namespace

Quarantine::Plugins Quarantine::plugins_of(const PlannedTrial& trial) {
  Plugins plugins;
  for (const auto& plugin : trial.plugins) plugins.emplace(plugin.kind, plugin.id);
  return plugins;
}

bool Quarantine::holds(const Plugins& blamed, const PlannedTrial& trial) { return contains(plugins_of(trial), blamed); }

std::optional<Quarantine::Blamed> Quarantine::failed(const PlannedTrial& trial, const std::string& reason) {
  if (is_divergence(reason)) return std::nullopt;
  const auto text = reason_group(reason);
  auto& all = failed_[text];
  all.push_back({plugins_of(trial), ++now_});
  if (all.size() > kEnough) all.erase(all.begin());
  if (all.size() < kEnough) return std::nullopt;
  auto common = all.front().plugins;
  for (const auto& one : all) {
    Plugins both;
    std::set_intersection(common.begin(), common.end(), one.plugins.begin(), one.plugins.end(),
                          std::inserter(both, both.end()));
    common = std::move(both);
  }
  const bool was_done = std::any_of(done_.begin(), done_.end(), [&](const auto& done) {
    return done.second > all.front().when && contains(done.first, common);
  });
  if (common.empty() || was_done) return std::nullopt;
  return Blamed{common, text};
}

std::string Quarantine::Blamed::text() const {
  std::string names;
  for (const auto& [kind, id] : plugins) names += fmt::format("{}{} {}", names.empty() ? "" : " and ", kind, id);
  return names;
}

DeviceRoom::Device* DeviceRoom::device_of(const PlannedTrial& trial) {
  const auto& train = trial.trial->spec.train;
  return train.on_cuda() ? &devices_[canonical(train.device)] : nullptr;
}

void DeviceRoom::started(int job, const PlannedTrial& trial, double now_s) {
  auto* const device = device_of(trial);
  if (device == nullptr) return;
  running_[job] = device;
  device->memory.started(job, trial, now_s);
}

void DeviceRoom::sized(int job, std::int64_t bytes, std::int64_t step) {
  const auto found = running_.find(job);
  if (found == running_.end() || bytes <= 0) return;
  found->second->memory.sized(job, bytes + kContext_bytes, step);
  found->second->next_look_s = 0;  // the job's memory is no longer free
}

void DeviceRoom::ended(int job) {
  const auto found = running_.find(job);
  if (found == running_.end()) return;
  found->second->memory.ended(job, 0);
  running_.erase(found);
}

bool DeviceRoom::has_room(const PlannedTrial& next, double now_s) {
  auto* const device = device_of(next);
  if (device == nullptr) return true;
  if (now_s >= device->next_look_s) {
    device->free_bytes = free_bytes_(next.trial->spec.train.device);
    device->next_look_s = now_s + kBetweenDeviceLooks_s;
  }
  return device->memory.has_room(next, device->free_bytes, now_s);
}

void MemoryRoom::remember(const std::string& key, std::int64_t peak_bytes) {
  if (peak_bytes > 0) by_key_[key] = std::max(by_key_[key], peak_bytes);
}

void MemoryRoom::started(int job, const PlannedTrial& trial, double now_s) {
  running_[job] = {.kind = kind_of(trial), .key = trial.key, .since_s = now_s};
}

void MemoryRoom::sized(int job, std::int64_t bytes, std::int64_t step) {
  const auto found = running_.find(job);
  if (found == running_.end()) return;
  auto& trial = found->second;
  trial.bytes = bytes, trial.peak = std::max(trial.peak, bytes);
  if (step == 0) return;
  trial.has_shown = true;
  own_.add(trial.kind, trial.peak);
}

void MemoryRoom::ended(int job, std::int64_t resident_bytes) {
  const auto found = running_.find(job);
  if (found == running_.end()) return;
  const auto& trial = found->second;
  if (trial.has_shown)
    own_.add(trial.kind, trial.peak);
  else if (resident_bytes > 0)
    resident_.add(trial.kind, resident_bytes);
  running_.erase(found);
}

void MemoryRoom::Peaks::add(const std::string& kind, std::int64_t bytes) {
  auto& known = by_kind[kind];
  known = std::max(known, bytes), most = std::max(most, bytes);
}

std::int64_t MemoryRoom::need(const std::string& key, const std::string& kind) const {
  if (const auto found = own_.by_kind.find(kind); found != own_.by_kind.end()) return found->second;
  if (const auto found = resident_.by_kind.find(kind); found != resident_.by_kind.end()) return found->second;
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;
  return kUnlike * (own_.most > 0 ? own_.most : resident_.most);
}

bool MemoryRoom::has_room(const PlannedTrial& next, std::int64_t available_bytes, double now_s) {
  if (available_bytes < 0 || running_.empty()) return true;
  auto left = available_bytes;
  for (const auto& [job, trial] : running_) {
    const auto needed = need(trial.key, trial.kind);
    const bool is_new = !trial.has_shown && now_s - trial.since_s < unshown_s_;
    if (is_new && needed == 0) return false;
    left -= std::max<std::int64_t>(0, needed - trial.bytes);
  }
  return need(next.key, kind_of(next)) <= left;
}

int MostFailures::of(std::size_t all) const {
  if (trials > 0) return trials;
  return percent > 0 ? std::max(1, static_cast<int>(std::ceil(percent / 100 * static_cast<double>(all)))) : 0;
}

Limits::Limits(const RunOptions& options, const Surroundings& outside, std::filesystem::path history, std::size_t trials,
               Note note)
    : options_(options),
      outside_(outside),
      history_(std::move(history)),
      note_(std::move(note)),
      most_failures_(options.max_failures.of(trials)),
      devices_(outside.room.device_bytes) {
  if (options.pin) processors_.emplace();
}

bool Limits::have_room(const PlannedTrial& next, double now_s) {
  if (!disk_has_room(now_s)) return false;
  if (now_s >= next_memory_look_s_) {
    memory_bytes_ = outside_.room.memory_bytes();
    next_memory_look_s_ = now_s + kBetweenMemoryLooks_s;
  }
  return memory_.has_room(next, memory_bytes_, now_s) && devices_.has_room(next, now_s);
}

bool Limits::disk_has_room(double now_s) {
  if (now_s < next_look_s_) return !disk_is_low_;
  next_look_s_ = now_s + kBetweenDiskLooks_s;
  const auto folder = history_.parent_path();
  const auto space = outside_.room.disk(folder);
  const bool is_low = space && space->free_bytes < least_free_bytes(*space);
  if (is_low != disk_is_low_)
    note_(is_low ? fmt::format("warning: {} free in {}, expected {} at least: no further trial starts until there is room",
                               bytes_text(space->free_bytes), folder.string(), bytes_text(least_free_bytes(*space)))
                 : fmt::format("there is room in {} again: trials go on", folder.string()));
  disk_is_low_ = is_low;
  return !is_low;
}

void Limits::start(const PlannedTrial& trial, StartCommand& command, double now_s) {
  command.memory_bytes = options_.memory_bytes;
  if (processors_) {
    command.processors = processors_->take(command.job, static_cast<int>(trial.trial->spec.train.threads));
    if (command.processors.empty() && !std::exchange(has_noted_processors_, true))
      note_(
          "warning: too few processors are free, because other runs of this user use some: trials share them, and their "
          "step times cannot be compared; run fewer at a time (-j)");
  }
  watches_.insert_or_assign(command.job, StallWatch(now_s));
  memory_.started(command.job, trial, now_s);
  devices_.started(command.job, trial, now_s);
}

void Limits::sign(int job, double now_s) {
  if (const auto found = watches_.find(job); found != watches_.end()) found->second.sign(now_s);
}

void Limits::forget(int job, std::int64_t resident_bytes) {
  watches_.erase(job);
  stalled_.erase(job);
  memory_.ended(job, resident_bytes);
  devices_.ended(job);
  if (processors_) processors_->give_back(job);
}

std::vector<int> Limits::newly_stalled(double now_s) {
  std::vector<int> jobs;
  for (const auto& [job, watch] : watches_)
    if (!stalled_.contains(job) && watch.is_stalled(now_s)) {
      stalled_[job] = fmt::format("no step for {:.0f} s, which is {}", watch.silent_s(now_s), watch.why());
      jobs.push_back(job);
    }
  return jobs;
}

std::optional<std::string> Limits::why_stalled(int job) const {
  const auto found = stalled_.find(job);
  return found == stalled_.end() ? std::nullopt : std::optional(found->second);
}

bool Limits::runs_again(const PlannedTrial& trial, const db::Attempt& attempt, bool had_company) const {
  const auto past = tries_.find(&trial);
  const int before = past == tries_.end() ? 0 : past->second;
  return attempt.outcome == outcome::kOom && had_company && before + 1 < kMostTries;
}

void Limits::ended(const PlannedTrial& trial, const db::Attempt& attempt, RunSummary& summary, Waiting& waiting) {
  if (attempt.outcome == outcome::kDone) {
    quarantine_.done(trial);
    std::erase_if(blamed_, [&](const auto& one) { return Quarantine::holds(one.first, trial); });
  }
  if (!counts_as_failed(attempt.outcome)) return;
  const auto why = fmt::format("{}: {}", attempt.outcome, attempt.reason);
  summary.reasons[&trial] = why;
  if (!std::exchange(has_sent_failure_, true)) send_notice("failure", why, history_, summary);
  too_many_failed_ = too_many_failed_ || (most_failures_ > 0 && summary.failed >= most_failures_);
  if (attempt.outcome == outcome::kFailed)
    if (const auto blamed = quarantine_.failed(trial, attempt.reason))
      blamed_.try_emplace(blamed->plugins, SetAsideFor{.reason = blamed->reason});
  leave_out(waiting, summary);
}

bool Limits::is_barred(const PlannedTrial& trial) const {
  return too_many_failed_ ||
         std::any_of(blamed_.begin(), blamed_.end(), [&](const auto& one) { return Quarantine::holds(one.first, trial); });
}

void Limits::leave_out(Waiting& waiting, RunSummary& summary) {
  if (too_many_failed_) return leave_out_all(waiting, summary);
  for (auto& [plugins, left] : blamed_) {
    const auto out = static_cast<int>(
        std::erase_if(waiting, [&blamed = plugins](const auto* one) { return Quarantine::holds(blamed, *one); }));
    if (out == 0) continue;
    summary.set_aside.quarantined += out;
    const bool is_noted = left.trials > 0;
    left.trials += out;
    const auto text = fmt::format("{} failed {} times in a row, with \"{}\": {} waiting trial{} with it {} set aside",
                                  Quarantine::Blamed{plugins, ""}.text(), Quarantine::kEnough, one_line(left.reason, 200),
                                  left.trials, left.trials == 1 ? "" : "s", left.trials == 1 ? "is" : "are");
    if (is_noted) {
      summary.quarantines.at(left.line) = text;
      continue;
    }
    left.line = summary.quarantines.size();
    summary.quarantines.push_back(text);
    note_("warning: " + text + "; the next run tries them");
  }
}

void Limits::leave_out_all(Waiting& waiting, RunSummary& summary) {
  const auto out = static_cast<int>(waiting.size());
  waiting.clear();
  summary.not_started += out;
  if (out > 0 && !std::exchange(has_noted_too_many_, true))
    note_(fmt::format("warning: {} trial{} failed, as many as --max-failures allows: the {} waiting trial{} not started",
                      summary.failed, summary.failed == 1 ? "" : "s", out, out == 1 ? " is" : "s are"));
}

Notice notice_of(const char* event, const RunSummary& summary, const std::string& reason,
                 const std::filesystem::path& database) {
  return {.event = event,
          .done = summary.done,
          .failed = summary.failed,
          .skipped = summary.skipped,
          .set_aside = summary.set_aside.total(),
          .elsewhere = summary.elsewhere,
          .not_started = summary.not_started,
          .reason = reason,
          .database = database};
}

void Limits::rescued(const std::filesystem::path& to, const std::string& why, const RunSummary& summary) {
  if (!std::exchange(has_sent_rescue_, true)) send_notice("rescue", why, to, summary);
}

void Limits::send_notice(const char* event, const std::string& reason, const std::filesystem::path& database,
                         const RunSummary& summary) {
  if (options_.notify) options_.notify(notice_of(event, summary, reason, database));
}

}  // namespace ablate
