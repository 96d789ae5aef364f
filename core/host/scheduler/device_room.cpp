#include "core/host/scheduler/device_room.h"

namespace ablate {
namespace {

constexpr double kBetweenDeviceLooks_s = 0.2;

/// Of each device one.
std::string canonical(const std::string& device) { return device == "cuda" ? "cuda:0" : device; }

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

}  // namespace ablate
