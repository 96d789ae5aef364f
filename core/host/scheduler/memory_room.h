// Room for a trial in the machine's memory and its device's, beside those that run. Torch-free.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// Sizes in bytes, of what a trial's process shares with no other: its own memory, which is what another one costs the machine.
/// What a process held resident counts the data set in that it shares with the worker. It bounds the own memory from above, and
/// stands for it until a trial of the same settings has shown its own in this run. Times are the scheduler's own, in seconds.
/// Trials that are passed outlive it, and stay as they are.
class MemoryRoom {
 public:
  /// @param unshown_s after which a trial that has shown nothing is not waited for
  explicit MemoryRoom(double unshown_s = kUnshown_s) : unshown_s_(unshown_s) {}

  /// What a trial held resident that ran before, by key. Of other trials it says nothing.
  void remember(const std::string& key, std::int64_t peak_bytes);

  void started(int job, const PlannedTrial& trial, double now_s);
  /// @param bytes held now @param step how far it is: from its first step on it has shown what it takes
  void sized(int job, std::int64_t bytes, std::int64_t step);
  /// @param resident_bytes at most, of one that was done before it could show what it takes; 0: that is not known, as of one
  /// that failed or never started
  void ended(int job, std::int64_t resident_bytes);

  /// Whether the trial fits into what is free once all others hold what they are expected to take. A trial of which nothing is
  /// known counts as four times the most that any has shown; before any has shown something, none starts beside one that has
  /// not, for `unshown_s` at most.
  /// @param available_bytes of the machine now; below 0: not known, and everything has room
  bool has_room(const PlannedTrial& next, std::int64_t available_bytes, double now_s);

  static constexpr double kUnshown_s = 10;

 private:
  struct Running {
    std::string kind, key;
    double since_s = 0;
    std::int64_t bytes = 0, peak = 0;
    bool has_shown = false;
  };
  struct Peaks {
    void add(const std::string& kind, std::int64_t bytes);
    std::map<std::string, std::int64_t> by_kind;  ///< a kind is all settings but the seed
    std::int64_t most = 0;
  };
  /// What a trial is expected to take; 0: nothing is known.
  std::int64_t need(const std::string& key, const std::string& kind) const;
  /// Of the trial that was asked for last it is there: the first one that waits is asked for at each event, and a kind is a
  /// document and its text.
  const std::string& kind_of(const PlannedTrial& trial);

  double unshown_s_;
  std::map<std::string, std::int64_t> by_key_;  ///< resident, before this run
  Peaks own_, resident_;                        ///< of this run; resident_: of trials that were done unseen
  const PlannedTrial* asked_ = nullptr;
  std::string asked_kind_;
  std::map<int, Running> running_;
};

/// A MemoryRoom of each device: the first trial of a kind runs alone until its first step. Trials on the CPU have room. Times
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
