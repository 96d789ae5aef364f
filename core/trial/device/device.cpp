#include "core/trial/device/device.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "core/trial/device/tensor_memory.h"
#include "core/util/error.h"

namespace ablate {

bool cuda_driver_present() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver != nullptr) dlclose(driver);
  return driver != nullptr;
}

void load_cuda() {
  if (!cuda_driver_present())
    throw Error("CUDA was requested, but this machine has no NVIDIA driver (libcuda.so.1 was not found); use the device cpu");
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr)
    throw Error(
        fmt::format("CUDA was requested, but libtorch_cuda.so cannot be loaded: {}. It needs CUDA 13's libraries "
                    "(cuBLAS, cuDNN, cuSPARSE, cuSOLVER, NCCL); "
                    "put their folders into LD_LIBRARY_PATH, or compute on cpu",
                    dlerror()));
}

c10::Device open_device(const std::string& name) {
  if (name == "cpu") return c10::Device(c10::kCPU);
  c10::Device device(name);
  if (!device.has_index()) device.set_index(0);
  load_cuda();
  at::globalContext().lazyInitDevice(device.type());
  const auto count = at::accelerator::deviceCount();
  if (device.index() >= count)
    throw Error(fmt::format("{} was requested, but this machine has {} CUDA device{}", name, count, count == 1 ? "" : "s"));
  at::accelerator::setDeviceIndex(device.index());
  return device;
}

void synchronize(c10::Device device) {
  if (!device.is_cpu()) at::accelerator::synchronizeDevice(device.index());
}

std::int64_t peak_memory(c10::Device device) {
  if (device.is_cpu()) return peak_tensor_bytes();
  return at::accelerator::getDeviceStats(device.index()).allocated_bytes[0].peak;
}

std::optional<std::int64_t> held_memory(c10::Device device) {
  if (device.is_cpu()) return std::nullopt;
  return at::accelerator::getDeviceStats(device.index()).reserved_bytes[0].current;
}

void reset_peak_memory(c10::Device device) {
  if (device.is_cpu()) return reset_peak_tensor_bytes();
  at::accelerator::resetPeakStats(device.index());
}

}  // namespace ablate
