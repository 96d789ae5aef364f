// GPUs of the machine, as NVIDIA's driver reports them. Torch-free.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ablate {

struct Gpu {
  std::string name;              ///< "NVIDIA H200"
  std::string uuid;              ///< "GPU-..."; "" if unknown
  std::int64_t free_bytes = -1;  ///< free now; below 0: unknown
};

struct Gpus {
  std::vector<Gpu> all;  ///< all GPUs of the machine, in the order of the bus, whatever CUDA_VISIBLE_DEVICES is
  std::string driver;    ///< version of the driver; "" if there is no driver
};

/// The driver's management library (NVML), loaded only for queries; it does not start CUDA. If it is missing, every answer is
/// empty. For one thread only.
class GpuDriver {
 public:
  /// @param library name or path of the library, for dlopen
  explicit GpuDriver(const char* library = "libnvidia-ml.so.1");
  ~GpuDriver();
  GpuDriver(const GpuDriver&) = delete;
  GpuDriver& operator=(const GpuDriver&) = delete;

  Gpus look() const;

 private:
  template <class... Arguments>
  bool call(const char* function, Arguments... arguments) const;

  void* library_;
  bool is_begun_ = false;
};

/// Returns the free memory of the device to which CUDA gives this name. CUDA_VISIBLE_DEVICES maps the name to the UUID or the
/// number of a GPU. For a number, the result is exact if all GPUs are of one model, or if CUDA counts in the order of the bus.
/// Otherwise it is the least free memory of all GPUs.
/// @param device "cuda" (= cuda:0) or "cuda:N"
/// @param visible CUDA_VISIBLE_DEVICES, nullptr: not set
/// @param order CUDA_DEVICE_ORDER, nullptr: not set
/// @return bytes; below 0: unknown
std::int64_t free_bytes_of(const std::vector<Gpu>& gpus, const std::string& device, const char* visible, const char* order);

}  // namespace ablate
