// Where a trial computes, chosen at run time from one build: a GPU is never needed, and libtorch_cuda.so is loaded only for
// one.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ablate {

/// Whether the NVIDIA driver's library is there. Does not start CUDA.
bool cuda_driver_present();

/// Loads libtorch_cuda.so without starting CUDA, so that a child may still be forked. Throws Error saying what is missing.
void load_cuda();

/// 90 for 9.0 (sm_90), of the device with this number among those that CUDA shows. 0 where the driver does not say, or CUDA has
/// not started.
std::int64_t compute_capability(int index);

/// The order in which torch's scaled dot product attention asks its forms on CUDA (at::SDPBackend): a form that refuses a type,
/// a mask or a shape is followed by the next. cuDNN's comes first on 9.0 alone, where it is the fastest; else it is torch's own
/// order.
std::vector<std::int64_t> attention_order(std::int64_t compute_capability);

/// "cpu", "cuda" (= cuda:0), "cuda:N". Throws Error where the device is not there. On CUDA this starts it, and sets
/// attention_order().
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
