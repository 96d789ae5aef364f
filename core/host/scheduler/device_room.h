// Whether a trial has room in the memory of its device beside those that run there. Torch-free.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/host/scheduler/memory_room.h"

namespace ablate {

/// Of each device a MemoryRoom: the first trial of a kind runs alone until its first step. Trials on the CPU have room. Times
/// are the scheduler's own, in seconds.
class DeviceRoom {
 public:
  /// As Room::device_bytes.
  using FreeBytes = std::function<std::int64_t(const std::string& device)>;

  explicit DeviceRoom(FreeBytes free_bytes) : free_bytes_(std::move(free_bytes)) {}

  void started(int job, const PlannedTrial& trial, double now_s);
  /// @param bytes held now, of torch's allocator @param step as MemoryRoom::sized
  void sized(int job, std::int64_t bytes, std::int64_t step);
  void ended(int job);
  bool has_room(const PlannedTrial& next, double now_s);

  /// What a process takes on a device beside its tensors: CUDA's context, kernels' code and libraries' work space. It is about
  /// half a GB, and more with further libraries.
  static constexpr std::int64_t kContext_bytes = 768LL << 20;
  /// Until a trial that has told nothing counts as one that takes nothing: CUDA's start, its data and a first step.
  static constexpr double kUnshown_s = 60;

 private:
  struct Device {
    MemoryRoom memory{kUnshown_s};
    std::int64_t free_bytes = -1;  ///< at the last look
    double next_look_s = 0;
  };
  /// nullptr: on the CPU.
  Device* device_of(const PlannedTrial& trial);

  FreeBytes free_bytes_;
  std::map<std::string, Device> devices_;
  std::map<int, Device*> running_;  ///< by job
};

}  // namespace ablate
