#include "core/util/gpus.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/util/whole_number.h"

namespace ablate {
namespace {

/// NVML's nvmlMemory_t. NVML's header comes with CUDA, which a build may lack.
struct NvmlMemory {
  unsigned long long total = 0, free = 0, used = 0;
};

bool are_alike(const std::vector<Gpu>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [&](const Gpu& one) { return one.name == gpus.front().name; });
}

std::int64_t least_free(const std::vector<Gpu>& gpus) {
  const auto least = std::min_element(gpus.begin(), gpus.end(),
                                      [](const Gpu& one, const Gpu& other) { return one.free_bytes < other.free_bytes; });
  return least == gpus.end() ? -1 : least->free_bytes;
}

/// @return entry number `index` of a comma-separated list; "" after its end
std::string_view entry_of(std::string_view list, int index) {
  for (; index > 0; --index) {
    const auto comma = list.find(',');
    if (comma == std::string_view::npos) return "";
    list.remove_prefix(comma + 1);
  }
  return list.substr(0, list.find(','));
}

}  // namespace

GpuDriver::GpuDriver(const char* library) : library_(dlopen(library, RTLD_LAZY | RTLD_LOCAL)) {
  is_begun_ = call("nvmlInit_v2");
}

GpuDriver::~GpuDriver() {
  if (is_begun_) call("nvmlShutdown");
  if (library_ != nullptr) dlclose(library_);
}

/// NVML's functions all return 0 on success.
template <class... Arguments>
bool GpuDriver::call(const char* function, Arguments... arguments) const {
  void* const found = library_ != nullptr ? dlsym(library_, function) : nullptr;
  return found != nullptr && reinterpret_cast<int (*)(Arguments...)>(found)(arguments...) == 0;
}

Gpus GpuDriver::look() const {
  Gpus found;
  if (!is_begun_) return found;
  char text[128] = "";
  constexpr unsigned kSize = sizeof(text);
  if (call("nvmlSystemGetDriverVersion", static_cast<char*>(text), kSize)) found.driver = text;
  unsigned count = 0;
  call("nvmlDeviceGetCount_v2", &count);
  for (unsigned i = 0; i < count; ++i) {
    void* device = nullptr;
    if (!call("nvmlDeviceGetHandleByIndex_v2", i, &device) ||
        !call("nvmlDeviceGetName", device, static_cast<char*>(text), kSize))
      continue;
    auto& gpu = found.all.emplace_back(Gpu{.name = text});
    if (call("nvmlDeviceGetUUID", device, static_cast<char*>(text), kSize)) gpu.uuid = text;
    if (NvmlMemory memory; call("nvmlDeviceGetMemoryInfo", device, &memory))
      gpu.free_bytes = static_cast<std::int64_t>(memory.free);
  }
  return found;
}

std::int64_t free_bytes_of(const std::vector<Gpu>& gpus, const std::string& device, const char* visible, const char* order) {
  const auto colon = device.find(':');
  const auto number =
      colon == std::string::npos ? std::optional(0) : whole_number_of(std::string_view(device).substr(colon + 1));
  if (!number) return -1;
  auto index = number;
  if (visible != nullptr) {
    const auto entry = entry_of(visible, *number);
    index = whole_number_of(entry);
    if (!index) {
      const auto named =
          std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& one) { return !entry.empty() && one.uuid.starts_with(entry); });
      return named == gpus.end() ? -1 : named->free_bytes;
    }
  }
  if (static_cast<std::size_t>(*index) >= gpus.size()) return -1;
  const bool is_by_bus = order != nullptr && std::string_view(order) == "PCI_BUS_ID";
  return is_by_bus || are_alike(gpus) ? gpus[static_cast<std::size_t>(*index)].free_bytes : least_free(gpus);
}

}  // namespace ablate
