// What of the process and the machine a running grid depends on. A test, or a simulation of many grids, owns each.
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

/// What is known of it; by default nothing, and everything has room.
struct Room {
  std::function<std::int64_t()> memory_bytes = [] { return std::int64_t{-1}; };  ///< that can be had; below 0: not known
  /// That are free on a device, "cuda" or "cuda:N"; below 0: not known.
  std::function<std::int64_t(const std::string& device)> device_bytes = [](const auto&) { return std::int64_t{-1}; };
  /// Of the file system that a folder is in, for this user; nothing: not known.
  std::function<std::optional<DiskSpace>(const std::filesystem::path&)> disk = [](const auto&) { return std::nullopt; };
};

/// This machine's.
Room machine_room();

/// While less is free no trial starts: a full disk costs more than the wait for room. Of a small file system it is a share.
std::uintmax_t least_free_bytes(const DiskSpace& of);

/// Who asks a grid to stop.
struct StopRequests {
  /// How many came. A signal is known before it is counted, which another thread may see.
  std::function<int()> often = [] { return asked_to_stop == 0 ? 0 : std::max(1, static_cast<int>(asked_to_stop_often)); };
  std::function<std::string()> who = who_asked_to_stop;  ///< of the latest
  /// Whether the first of them lets running trials come to their end, as SIGQUIT does.
  std::function<bool()> first_is_mild = [] { return first_asked_to_stop == SIGQUIT; };

  bool any() const { return often() > 0; }

  /// How a running grid is to end, by all requests so far; from the mildest to the hardest.
  enum class How {
    kGoesOn,    ///< nobody has asked
    kFinishes,  ///< nothing more is started
    kSaves,     ///< and running trials are written to disk, then ended
    kAtOnce     ///< and running trials are ended
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
  Room room = {};           ///< by default nothing of it is known
  int process = getpid();   ///< its number, which tells what it leaves behind from what others do
  /// Of the schedulers that share a history.
  std::function<std::unique_ptr<Locks>(const std::filesystem::path& history)> locks = locks_beside;
};

}  // namespace ablate
