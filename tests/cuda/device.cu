// A device's memory for tests, and how they begin on it.
#include <cuda_runtime.h>

#include <cstddef>
#include <new>

namespace ablate::kernels::cuda {

void* device_allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (cudaMallocManaged(&memory, bytes > 0 ? bytes : 1) != cudaSuccess) throw std::bad_alloc();
  return memory;
}
void device_free(void* memory) { cudaFree(memory); }

const char* finished() {
  const auto error = cudaDeviceSynchronize();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

}  // namespace ablate::kernels::cuda
