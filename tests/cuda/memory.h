// Memory for a test's numbers: CPU memory, or on a device (ABLATE_ON_DEVICE) memory that host and device share.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ablate/cuda/block.h"

namespace ablate::kernels::cuda {

#ifdef ABLATE_ON_DEVICE
/// Defined in tests/cuda/device.cu. device_allocate() throws std::bad_alloc. finished() waits for stream() and returns CUDA's
/// error, or nullptr.
void* device_allocate(std::size_t bytes);
void device_free(void* memory);
const char* finished();
void* stream();  ///< the tests' own stream, independent of other streams

template <class T>
struct Memory {
  using value_type = T;
  Memory() = default;
  template <class Other>
  Memory(const Memory<Other>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(device_allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) { device_free(memory); }
  bool operator==(const Memory&) const { return true; }
};
inline void run_in(shim::Order) {}  // the device has its own order
#else
template <class T>
using Memory = std::allocator<T>;
inline void* stream() {
  static char token;
  return &token;
}
inline const char* finished() {
  for (const void* one : shim::streams())
    if (one != stream()) return "a kernel was launched on a stream other than the test's";
  return nullptr;
}
inline void run_in(shim::Order order) { shim::set_order(order); }
#endif

/// Returns the error of launched work, either of the launch or of its run; nullptr if there is none.
inline const char* after(const char* launched) { return launched != nullptr ? launched : finished(); }

template <class T>
using Vector = std::vector<T, Memory<T>>;

}  // namespace ablate::kernels::cuda
