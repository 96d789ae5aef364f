// Memory and a stream for tests on a device. The memory is host memory, which the device reads over the bus. Managed memory is
// not used, because too much of it stops the device for all its users.
#include <cuda_runtime.h>

#include <cstddef>
#include <new>

namespace ablate::kernels::cuda {

void* device_allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (cudaHostAlloc(&memory, bytes > 0 ? bytes : 1, cudaHostAllocMapped) != cudaSuccess) throw std::bad_alloc();
  return memory;
}
void device_free(void* memory) { cudaFreeHost(memory); }

void* stream() {
  static cudaStream_t const own = [] {
    cudaStream_t made = nullptr;
    if (cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking) != cudaSuccess) throw std::bad_alloc();
    return made;
  }();
  return own;
}

const char* finished() {
  const auto error = cudaStreamSynchronize(static_cast<cudaStream_t>(stream()));
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

}  // namespace ablate::kernels::cuda
