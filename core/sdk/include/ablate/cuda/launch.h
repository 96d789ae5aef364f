// Starts CUDA kernels of a plugin, and hides differences between nvcc and the compiler of tests, which run the same sources on
// a CPU (ablate_add_kernel_test, ablate/cuda/shim.h). No torch: raw pointers, sizes and a stream.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#include <cuda_runtime.h>

/// Declares a block's array in shared memory, 16-byte aligned. Use it at the beginning of a kernel.
#define ABLATE_SHARED(type, name, count) __shared__ __align__(16) type name[count]
#elif !defined(ABLATE_CUDA_SHIM)
#error "a CUDA source: for nvcc, or behind ablate/cuda/shim.h (ablate_add_kernel_test)"
#endif

namespace ablate::cuda {

#ifdef __CUDACC__
/// Starts kernel(arguments...) with `blocks` blocks of `threads` threads and `shared` bytes of dynamic shared memory, or
/// nothing if blocks is 0.
/// @param stream a cudaStream_t
/// @return nullptr, or the error message of CUDA
template <class... P, class... A>
const char* launch(void (*kernel)(P...), std::int64_t blocks, int threads, int shared, void* stream, A... arguments) {
  if (blocks == 0) return nullptr;
  if (blocks > INT32_MAX) return "more than 2^31 - 1 blocks";
  kernel<<<static_cast<unsigned>(blocks), threads, shared, static_cast<cudaStream_t>(stream)>>>(arguments...);
  const auto error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}
#else
using shim::launch;
#endif

/// Returns the number of pieces of `size` that cover `of` items. The last piece may be shorter.
__host__ __device__ constexpr std::int64_t pieces(std::int64_t of, std::int64_t size) { return (of + size - 1) / size; }

}  // namespace ablate::cuda
