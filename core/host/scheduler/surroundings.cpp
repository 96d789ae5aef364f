#include "core/host/scheduler/surroundings.h"

#include <cstdlib>

#include "core/util/gpus.h"
#include "core/util/memory_kills.h"

namespace ablate {

Room machine_room() {
  return {.memory_bytes = [] { return look_at_memory().available_bytes; },
          .device_bytes =
              [driver = std::shared_ptr<GpuDriver>()](const std::string& device) mutable {
                if (!driver) driver = std::make_shared<GpuDriver>();  // opened late: a grid on the CPU does not need it
                return free_bytes_of(driver->look().all, device, std::getenv("CUDA_VISIBLE_DEVICES"),
                                     std::getenv("CUDA_DEVICE_ORDER"));
              },
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
