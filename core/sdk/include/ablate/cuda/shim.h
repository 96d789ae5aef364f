// CUDA's keywords and functions for a C++ compiler: threads in x, barriers, shared memory, shuffles, votes and atomics. A test
// includes this header and then a `.cu` file. ablate/cuda/block.h runs the file's kernels on a CPU (ablate_add_kernel_test).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "ablate/cuda/block.h"

#define ABLATE_CUDA_SHIM
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define threadIdx (::ablate::shim::position().thread)
#define blockIdx (::ablate::shim::position().block)
#define blockDim (::ablate::shim::position().threads)
#define gridDim (::ablate::shim::position().blocks)

/// Static array: `__shared__ type name[count]`. The shim allocates it, so that it is full of NaNs at a block's start and the
/// address sanitizer watches both ends. Use it at the beginning of a kernel, because every thread must reach it.
#define ABLATE_SHARED(type, name, count) \
  type* const name = static_cast<type*>(::ablate::shim::shared(sizeof(type) * static_cast<std::size_t>(count)))

struct alignas(16) float4 {
  float x, y, z, w;
};

inline void __syncthreads() { ablate::shim::barrier(); }
inline void __syncwarp(unsigned mask = ~0U) {
  char all[32];
  ablate::shim::exchange(mask, "", 1, all);
}

namespace ablate::shim {

/// Returns the value of lane `from(own lane)` in a section of `width` lanes, or the own value if that lane is outside.
template <class T, class From>
T shuffled(unsigned mask, T value, int width, From from) {
  T all[kLanes];
  exchange(mask, &value, sizeof(T), all);
  const int lane = static_cast<int>(position().thread.x % kLanes), start = lane / width * width;
  const int source = start + from(lane - start);
  if (source < start || source >= start + width) return value;
  if ((mask >> source & 1) == 0) fail("a lane reads from a lane that is not in the mask");
  return all[source];
}

template <class... P, class... A>
const char* launch(void (*kernel)(P...), std::int64_t blocks, int threads, int shared_bytes, void* stream, A... arguments) {
  launched_on(stream);
  auto call = [&] { kernel(arguments...); };
  const auto one = [](void* of) { (*static_cast<decltype(call)*>(of))(); };
  run(blocks, static_cast<unsigned>(threads), static_cast<std::size_t>(shared_bytes), one, &call);
  return nullptr;
}

}  // namespace ablate::shim

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  return ablate::shim::shuffled(mask, value, width, [=](int) { return lane % width; });
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32) {
  return ablate::shim::shuffled(mask, value, width, [=](int own) { return own ^ by; });
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  return ablate::shim::shuffled(mask, value, width, [=](int own) { return own - static_cast<int>(by); });
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  return ablate::shim::shuffled(mask, value, width, [=](int own) { return own + static_cast<int>(by); });
}

inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }

inline unsigned __ballot_sync(unsigned mask, int vote) {
  unsigned char all[32] = {};
  const unsigned char own = vote != 0;
  ablate::shim::exchange(mask, &own, 1, all);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) votes |= static_cast<unsigned>(all[lane]) << lane;
  return votes;
}
inline int __any_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) != 0; }
inline int __all_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) == mask; }

// All threads run on one core, so no thread interrupts another. Accesses are atomic only so that the thread sanitizer
// reports no race.
template <class T, class F>
T ablate_shim_atomic(T* at, F change) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  auto* const bits = reinterpret_cast<Bits*>(at);
  const auto old = std::bit_cast<T>(__atomic_load_n(bits, __ATOMIC_RELAXED));
  __atomic_store_n(bits, std::bit_cast<Bits>(static_cast<T>(change(old))), __ATOMIC_RELAXED);
  return old;
}
template <class T>
T atomicAdd(T* at, T by) {
  return ablate_shim_atomic(at, [=](T old) { return old + by; });
}
template <class T>
T atomicMax(T* at, T by) {
  return ablate_shim_atomic(at, [=](T old) { return std::max(old, by); });
}
template <class T>
T atomicExch(T* at, T by) {
  return ablate_shim_atomic(at, [=](T) { return by; });
}
template <class T>
T atomicCAS(T* at, T expected, T by) {
  return ablate_shim_atomic(at, [=](T old) { return old == expected ? by : old; });
}

#include "ablate/cuda/shim_mma.h"
