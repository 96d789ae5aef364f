// The only wrapper of tensor cores: products of bfloat16 with sums in float32, by a warp (sm_80 and newer).
#pragma once

#include <cstdint>

#include "ablate/cuda/launch.h"
#include "core/kernels/cuda/numbers.h"

namespace ablate::kernels::cuda {

using ::ablate::cuda::launch;
using ::ablate::cuda::pieces;

/// Rounds two numbers to bfloat16, to nearest, ties to even. `low` comes first in memory.
__device__ __forceinline__ std::uint32_t bf16_pair(float low, float high) {
#ifdef __CUDACC__
  std::uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  const auto rounded = [](float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return x != x ? 0x7fffU : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  };
  return rounded(high) << 16 | rounded(low);
#endif
}

__device__ __forceinline__ float number(float x) { return x; }
__device__ __forceinline__ float number(Bf16 x) {
#ifdef __CUDACC__
  return __uint_as_float(static_cast<std::uint32_t>(x.bits) << 16);
#else
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
#endif
}

/// Returns the rounding errors of a pair's two numbers, as a pair.
__device__ __forceinline__ std::uint32_t bf16_left(std::uint32_t pair, float low, float high) {
  return bf16_pair(low - number(Bf16{static_cast<std::uint16_t>(pair)}),
                   high - number(Bf16{static_cast<std::uint16_t>(pair >> 16)}));
}

/// d [16, 8] += a [16, 16] b [16, 8], by a whole warp. Numbers of lane 4 g + t, as row:column. Pairs of a: g:2t, g+8:2t,
/// g:2t+8, g+8:2t+8. Pairs of b: 2t:g, 2t+8:g. Numbers of d: g:2t, g:2t+1, g+8:2t, g+8:2t+1.
__device__ __forceinline__ void mma(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
#ifdef __CUDACC__
  // volatile, because the whole warp must execute it: the compiler must not move it behind a condition.
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  shim::mma_m16n8k16(d, a, b);
#endif
}

__device__ __forceinline__ void put(float* to, float x) { *to = x; }
__device__ __forceinline__ void put(Bf16* to, float x) { to->bits = static_cast<std::uint16_t>(bf16_pair(x, 0)); }

/// Returns x rounded to type T.
template <class T>
__device__ __forceinline__ float rounded(float x) {
  T to;
  put(&to, x);
  return number(to);
}

}  // namespace ablate::kernels::cuda
