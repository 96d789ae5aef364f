// Where a trial computes, chosen at run time from one build: a GPU is never needed, and libtorch_cuda.so is loaded only for
// one.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>

namespace ablate {

/// Whether the NVIDIA driver's library is there. Does not start CUDA.
bool cuda_driver_present();

/// Loads libtorch_cuda.so without starting CUDA, so that a child may still be forked. Throws Error saying what is missing.
void load_cuda();

/// "cpu", "cuda" (= cuda:0), "cuda:N". Throws Error where the device is not there. On CUDA this starts it. Its scaled dot
/// product attention asks cuDNN first on 9.0 and 10.0, and then others: torch's own choice where cuDNN is later than 9.15
/// (TORCH_CUDNN_SDPA_DEPRIORITIZED=1 undoes it).
c10::Device open_device(const std::string& name);

/// Waits until the device has done all that was asked of it; nothing on the CPU.
void synchronize(c10::Device device);

/// Peak bytes of tensors since reset_peak_memory: the counting allocator on the CPU, the caching allocator's own figure on
/// CUDA.
std::int64_t peak_memory(c10::Device device);
void reset_peak_memory(c10::Device device);

/// Bytes that this process's allocator holds on the device, for tensors to come too; nothing on the CPU.
std::optional<std::int64_t> held_memory(c10::Device device);

}  // namespace ablate
