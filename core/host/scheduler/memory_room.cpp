#include "core/host/scheduler/memory_room.h"

#include <algorithm>

#include "core/records/setting_paths.h"

namespace ablate {
namespace {

constexpr double kBetweenDeviceLooks_s = 0.2;

/// Of each device one.
std::string canonical(const std::string& device) { return device == "cuda" ? "cuda:0" : device; }

constexpr std::int64_t kUnlike = 4;  ///< times the most that any trial took, for one of other settings

std::string made_kind(const PlannedTrial& trial) {
  auto settings = trial.identity.whole().settings;
  if (settings.is_object()) settings.erase(setting::kSeed);
  return settings.dump();
}

}  // namespace

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
  found->second->next_look_s = 0;  // what it holds is free no more
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

const std::string& MemoryRoom::kind_of(const PlannedTrial& trial) {
  if (asked_ != &trial) asked_ = &trial, asked_kind_ = made_kind(trial);
  return asked_kind_;
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

}  // namespace ablate
