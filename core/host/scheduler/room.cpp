#include "core/host/scheduler/room.h"

#include <algorithm>

#include "core/util/memory_kills.h"

namespace ablate {

Room machine_room() {
  return {.memory_bytes = [] { return look_at_memory().available_bytes; },
          .disk = [](const std::filesystem::path& folder) -> std::optional<DiskSpace> {
            std::error_code failed;
            const auto space = std::filesystem::space(folder, failed);
            if (failed || space.capacity == 0) return std::nullopt;
            return DiskSpace{space.available, space.capacity};
          }};
}

std::uintmax_t least_free_bytes(const DiskSpace& of) {
  constexpr std::uintmax_t kLeast = 500'000'000, kShare = 20;
  return std::min(kLeast, of.total_bytes / kShare);
}

}  // namespace ablate
