// What NVIDIA's driver says of the machine. Torch-free.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ablate {

struct Gpu {
  std::string name;              ///< "NVIDIA H200"
  std::string uuid;              ///< "GPU-..."; "" where it is not told
  std::int64_t free_bytes = -1;  ///< that nobody holds now; below 0: not told
};

struct Gpus {
  std::vector<Gpu> all;  ///< of the machine, in the order of the bus, whatever CUDA_VISIBLE_DEVICES says
  std::string driver;    ///< its version; "" where there is none
};

/// The driver's management library (NVML), loaded to be asked alone; it does not start CUDA. Where there is none, every
/// answer is empty. One thread.
class GpuDriver {
 public:
  /// @param library as dlopen takes it
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

/// What is free on the device that CUDA gives this name. Which GPU that is, CUDA_VISIBLE_DEVICES says; by number it is known
/// where all GPUs have one name, or CUDA counts them as the bus does: elsewhere it is taken for the one with the least.
/// @param device "cuda" (= cuda:0) or "cuda:N" @param visible CUDA_VISIBLE_DEVICES, nullptr: not set
/// @param order CUDA_DEVICE_ORDER, likewise
/// @return bytes; below 0: not known
std::int64_t free_bytes_of(const std::vector<Gpu>& gpus, const std::string& device, const char* visible, const char* order);

}  // namespace ablate
