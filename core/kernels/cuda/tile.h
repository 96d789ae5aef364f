// Product of two matrices. A block computes 64 x 64 of its numbers, 16 in each of 256 threads. Operands are in shared memory as
// [depth, 64], with the summed index first and rows 68 floats apart. Threads sum float32, and tensor cores sum bfloat16. row()
// and column() return the position of a thread's numbers, so that a kernel is written once for both types.
#pragma once

#include <type_traits>

#include "core/kernels/cuda/mma.h"

namespace ablate::kernels::cuda {

constexpr int kSide = 64;  ///< rows and columns
constexpr int kRow = 68;   ///< floats from a row to the next: whole float4, and no bank conflict if four rows are read at once
constexpr int kThreads = 256;  ///< threads of every block that multiplies
constexpr int kBlocks = 2;     ///< least number of blocks on a multiprocessor at once: 128 registers a thread
constexpr int kOwn = 16;       ///< numbers of a thread
constexpr int kBlock = 16;     ///< side of a block in add_blocks(); pairs within a block are computed singly

struct FloatTile {
  float at[kOwn] = {};

  static __device__ int row(int i) { return static_cast<int>(threadIdx.x) / 16 * 4 + i / 4; }
  static __device__ int column(int i) { return static_cast<int>(threadIdx.x) % 16 * 4 + i % 4; }

  /// += a^T b, with a and b [depth, 64], and depth a multiple of 16.
  __device__ __forceinline__ void add(const float* a, const float* b, int depth) {
    a += row(0), b += column(0);
#pragma unroll 4
    for (int k = 0; k < depth; ++k, a += kRow, b += kRow) {
      const float4 x = *reinterpret_cast<const float4*>(a), y = *reinterpret_cast<const float4*>(b);
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < kOwn; ++i) at[i] += xs[i / 4] * ys[i % 4];
    }
  }

  /// Like add(), with all digits of b, for numbers that need more than bfloat16.
  __device__ __forceinline__ void add_exact(const float* a, const float* b, int depth) { add(a, b, depth); }

  /// Like add(), but operand(block of 16 rows, block of 16 columns) chooses {a, b}. If a is nullptr, nothing is added there.
  template <class Operand>
  __device__ __forceinline__ void add_blocks(int depth, Operand operand) {
    const auto from = operand(row(0) / kBlock, column(0) / kBlock);
    if (from.a != nullptr) add(from.a, from.b, depth);
  }
};

/// Warp w computes four products of 16 x 8 side by side, from row 16 (w / 2) and column 32 (w % 2) on.
struct TensorTile {
  float at[kOwn] = {};

  static __device__ int row(int i) {
    return static_cast<int>(threadIdx.x) / 64 * 16 + static_cast<int>(threadIdx.x) % 32 / 4 + i % 4 / 2 * 8;
  }
  static __device__ int column(int i) {
    return static_cast<int>(threadIdx.x) / 32 % 2 * 32 + i / 4 * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + i % 2;
  }

  /// += a^T b, with a and b [depth, 64], and depth a multiple of 16.
  __device__ __forceinline__ void add(const float* a, const float* b, int depth) { add_digits<false>(a, b, depth); }

  /// Like add(), with twice as many digits of b: b as bfloat16, and its rounding errors as bfloat16.
  __device__ __forceinline__ void add_exact(const float* a, const float* b, int depth) { add_digits<true>(a, b, depth); }

  template <class Operand>
  __device__ __forceinline__ void add_blocks(int depth, Operand operand) {
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    const int first = static_cast<int>(threadIdx.x) / 64 * 16, left = static_cast<int>(threadIdx.x) / 32 % 2 * 32;
#pragma unroll
    for (int side = 0; side < 4; ++side) {
      const auto from = operand(first / kBlock, (left + side * 8) / kBlock);
      if (from.a == nullptr) continue;
      for (int k = 0; k < depth; k += 16) {
        const float *a = from.a + (k + 2 * t) * kRow + first + g, *b = from.b + (k + 2 * t) * kRow + left + side * 8 + g;
        const std::uint32_t as[4] = {bf16_pair(a[0], a[kRow]), bf16_pair(a[8], a[kRow + 8]),
                                     bf16_pair(a[8 * kRow], a[9 * kRow]), bf16_pair(a[8 * kRow + 8], a[9 * kRow + 8])};
        add_side(side, as, b);
      }
    }
  }

 private:
  template <bool kExact>
  __device__ __forceinline__ void add_digits(const float* a, const float* b, int depth) {
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    a += 2 * t * kRow + static_cast<int>(threadIdx.x) / 64 * 16 + g;
    b += 2 * t * kRow + static_cast<int>(threadIdx.x) / 32 % 2 * 32 + g;
    for (int k = 0; k < depth; k += 16, a += 16 * kRow, b += 16 * kRow) {
      const std::uint32_t as[4] = {bf16_pair(a[0], a[kRow]), bf16_pair(a[8], a[kRow + 8]), bf16_pair(a[8 * kRow], a[9 * kRow]),
                                   bf16_pair(a[8 * kRow + 8], a[9 * kRow + 8])};
#pragma unroll
      for (int side = 0; side < 4; ++side) add_side<kExact>(side, as, b + side * 8);
    }
  }

  template <bool kExact = false>
  __device__ __forceinline__ void add_side(int side, const std::uint32_t (&as)[4], const float* b) {
    const std::uint32_t bs[2] = {bf16_pair(b[0], b[kRow]), bf16_pair(b[8 * kRow], b[9 * kRow])};
    float d[4] = {at[side * 4], at[side * 4 + 1], at[side * 4 + 2], at[side * 4 + 3]};
    mma(d, as, bs);
    if constexpr (kExact) {
      const std::uint32_t left[2] = {bf16_left(bs[0], b[0], b[kRow]), bf16_left(bs[1], b[8 * kRow], b[9 * kRow])};
      mma(d, as, left);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) at[side * 4 + i] = d[i];
  }
};

template <class T>
using Tile = std::conditional_t<std::is_same_v<T, Bf16>, TensorTile, FloatTile>;

struct Operands {
  const float *a, *b;
};

/// to [rows, 64] = f(from [row, column], row), 0 behind `tokens` rows or `channels` columns. `from` has rows `stride` apart.
template <class T, class F>
__device__ __forceinline__ void load_rows(float* to, int rows, const T* from, std::int64_t stride, std::int64_t tokens,
                                          int channels, F f) {
  for (int i = static_cast<int>(threadIdx.x); i < rows * kSide; i += kThreads) {
    const int row = i / kSide, column = i % kSide;
    to[row * kRow + column] = row < tokens && column < channels ? f(number(from[row * stride + column]), row) : 0.f;
  }
}

/// to [columns, 64] = f(from [row, column], row), transposed. `columns` is a power of 2.
template <class T, class F>
__device__ __forceinline__ void load_columns(float* to, int columns, const T* from, std::int64_t stride, std::int64_t tokens,
                                             int channels, F f) {
  for (int i = static_cast<int>(threadIdx.x); i < columns * kSide; i += kThreads) {
    const int row = i / columns, column = i % columns;
    to[column * kRow + row] = row < tokens && column < channels ? f(number(from[row * stride + column]), row) : 0.f;
  }
}

struct AsItIs {
  __device__ float operator()(float x, int) const { return x; }
};

}  // namespace ablate::kernels::cuda
