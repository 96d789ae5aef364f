// How much of the machine is left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

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

}  // namespace ablate
