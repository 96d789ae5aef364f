// Device of a trial, chosen at run time. One build serves CPU and GPU, and libtorch_cuda.so is loaded only for a GPU.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>

namespace ablate {

/// True if the NVIDIA driver's library is present. Does not start CUDA.
bool cuda_driver_present();

/// Loads libtorch_cuda.so without starting CUDA, so that a child may still be forked. Throws Error if a library is missing.
void load_cuda();

/// Opens "cpu", "cuda" (= cuda:0) or "cuda:N". Starts CUDA for a CUDA device. Throws Error if the device is missing. On compute
/// capability 9.0 and 10.0, scaled dot product attention tries cuDNN first. That is torch's default order if cuDNN is later
/// than 9.15 (TORCH_CUDNN_SDPA_DEPRIORITIZED=1 reverses it).
c10::Device open_device(const std::string& name);

/// Waits until the device has finished all its work. Returns at once on the CPU.
void synchronize(c10::Device device);

/// Returns the peak bytes of tensors since reset_peak_memory, by the counting allocator (CPU) or the caching allocator (CUDA).
std::int64_t peak_memory(c10::Device device);
void reset_peak_memory(c10::Device device);

/// Returns the bytes that this process's allocator reserves on the device, also for later tensors. Returns nullopt on the CPU.
std::optional<std::int64_t> held_memory(c10::Device device);

}  // namespace ablate
