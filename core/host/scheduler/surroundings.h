// Parts of the process and the machine that a running grid depends on. A test, or a simulation of many grids, replaces them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/util/byte_locks.h"
#include "core/util/clock.h"
#include "core/util/output.h"
#include "core/util/stop_on_signal.h"

namespace ablate {

struct DiskSpace {
  std::uintmax_t free_bytes = 0, total_bytes = 0;
};

/// Free resources of the machine. By default all are unknown, and everything has room.
struct Room {
  std::function<std::int64_t()> memory_bytes = [] { return std::int64_t{-1}; };  ///< available; below 0: unknown
  /// Returns free bytes on a device, "cuda" or "cuda:N"; below 0: unknown.
  std::function<std::int64_t(const std::string& device)> device_bytes = [](const auto&) { return std::int64_t{-1}; };
  /// Returns this user's space on the file system of a folder, or nullopt if unknown.
  std::function<std::optional<DiskSpace>(const std::filesystem::path&)> disk = [](const auto&) { return std::nullopt; };
};

/// Returns the resources of this machine.
Room machine_room();

/// Returns the free space below which no trial starts, since a full disk costs more than waiting. Small file systems need less.
std::uintmax_t least_free_bytes(const DiskSpace& of);

/// Requests to stop a grid.
struct StopRequests {
  /// Returns the number of requests, at least 1 if another thread has seen a signal that is not counted yet.
  std::function<int()> often = [] { return asked_to_stop == 0 ? 0 : std::max(1, static_cast<int>(asked_to_stop_often)); };
  std::function<std::string()> who = who_asked_to_stop;  ///< sender of the latest request
  /// True if the first request lets running trials end normally, as SIGQUIT does.
  std::function<bool()> first_is_mild = [] { return first_asked_to_stop == SIGQUIT; };

  bool any() const { return often() > 0; }

  /// Required end of a running grid, by all requests so far. The values go from the mildest to the hardest end.
  enum class How {
    kGoesOn,    ///< no request
    kFinishes,  ///< no other trial starts
    kSaves,     ///< no other trial starts, and running trials write a checkpoint, then end
    kAtOnce     ///< no other trial starts, and running trials end
  };
  How how() const {
    const int count = often();
    if (count == 0) return How::kGoesOn;
    const int hard = count - (first_is_mild() ? 1 : 0);
    return hard == 0 ? How::kFinishes : hard == 1 ? How::kSaves : How::kAtOnce;
  }
};

struct Surroundings {
  Clock& clock = machine_clock();
  Output& output = standard_error();
  StopRequests stops = {};  ///< by default the process's signals
  Room room = {};           ///< by default unknown
  int process = getpid();   ///< PID, which distinguishes this process's files from other processes' files
  /// Returns the locks of the schedulers that share a history.
  std::function<std::unique_ptr<Locks>(const std::filesystem::path& history)> locks = locks_beside;
};

}  // namespace ablate
