// Decays between the tokens of a chunk: products of exp(a sum of log decays). No sum is computed as a difference of two sums.
//
// By halves: in a block of 2^(l+1) tokens, a query of the upper half reads a key of the lower half across their border. At
// level l a query is multiplied by the decays from the border to the query, and a key by the decays from behind the key to the
// border. Both factors are at most 1. Tokens i > j meet at the level of the highest binary digit in which they differ.
#pragma once

#include "core/kernels/cuda/tile.h"

namespace ablate::kernels::cuda {
namespace {

constexpr int kChunk = 64;  ///< tokens of a chunk, as many as a side of a tile
constexpr int kLevels = 6;  ///< 2^6 tokens
static_assert(kChunk == kSide && kChunk == 1 << kLevels, "a chunk is a tile's side");

/// Multiplies columns of a chunk by exp of the sum of log decays up to each token, or behind each token if kBehind. All threads
/// must call it. Writes to the tile before the call need no barrier. Reads of the tile after the call need one.
/// @param tile token t of column c at t * row + c * column
/// @param parts [256], scratch
/// @param log_decay first token and column; tokens are `stride`, columns `step` numbers apart (0: all alike); nullptr: all 0
/// @return the sum of all log decays of column threadIdx.x % kColumns
template <int kColumns, bool kBehind>
__device__ float decay(float* tile, int row, int column, float* parts, const float* log_decay, std::int64_t stride, int step,
                       std::int64_t tokens, int columns) {
  constexpr int kParts = kThreads / kColumns, kRows = kChunk / kParts;
  const int c = static_cast<int>(threadIdx.x) % kColumns, part = static_cast<int>(threadIdx.x) / kColumns;
  float own[kRows], sum = 0;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int t = part * kRows + i;
    own[i] = t < tokens && c < columns && log_decay != nullptr ? log_decay[t * stride + c * step] : 0.f;
    sum += own[i];
  }
  parts[part * kColumns + c] = sum;
  __syncthreads();
  float total = 0, run = 0;
  for (int other = 0; other < kParts; ++other) {
    const float more = parts[other * kColumns + c];
    total += more;
    if (kBehind ? other > part : other < part) run += more;
  }
#pragma unroll
  for (int n = 0; n < kRows; ++n) {
    const int i = kBehind ? kRows - 1 - n : n;
    if (!kBehind) run += own[i];
    tile[(part * kRows + i) * row + c * column] *= expf(run);
    if (kBehind) run += own[i];
  }
  return total;
}

/// Calls f(first row, true for an upper half) for each block of a level in one half of the chunk.
template <class F>
__device__ __forceinline__ void each_half(int level, int half_of_chunk, F f) {
  const int size = 1 << level;
  for (int first = half_of_chunk * kChunk / 2; first < (half_of_chunk + 1) * kChunk / 2; first += size)
    f(first, (first >> level & 1) != 0);
}

/// to [level, channel, token] = q or k, times the decays of the level. At least kChannels * 12 threads must call it.
/// @param raw [3, channel, token]: q, k, log decay
/// @param kStride floats from a channel to the next
template <int kChannels, int kStride>
__device__ void make_levels(float* to, const float* raw) {
  const int thread = static_cast<int>(threadIdx.x), c = thread % kChannels, level = thread / kChannels % kLevels;
  if (thread >= kChannels * kLevels * 2) return;
  const float *q = raw + c * kStride, *k = q + kChannels * kStride, *log_decay = k + kChannels * kStride;
  to += (level * kChannels + c) * kStride;
  const int size = 1 << level;
  each_half(level, thread / (kChannels * kLevels), [&](int first, bool upper) {
    float run = 0;
    for (int n = 0; n < size; ++n) {
      const int t = upper ? first + n : first + size - 1 - n;
      if (upper) run += log_decay[t];
      to[t] = (upper ? q[t] : k[t]) * expf(run);
      if (!upper) run += log_decay[t];
    }
  });
}

/// Weights of pairs, sum_c q_ic k_jc times the decays between them, for j <= i. Pairs from different blocks of 16 tokens use a
/// matrix product. Pairs within a block are computed singly: each thread computes four pairs of one token i.
template <class T>
struct Pairs {
  Tile<T> apart;
  float near[4] = {};

  /// @param levels, raw in the form of make_levels()
  template <int kChannels, int kStride>
  __device__ __forceinline__ void add(const float* levels, const float* raw) {
    apart.add_blocks(kChannels, [=](int row, int column) {
      const float* level = levels + (row / 2 == column / 2 ? 4 : 5) * kChannels * kStride;
      return row > column ? Operands{level, level} : Operands{nullptr, nullptr};
    });
    const int i = own_row();
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const int j = own_column() + n;
      if (j > i) continue;
      const float* level = levels + (31 - __clz(i ^ j)) * kChannels * kStride;
      const float *a = (j < i ? level : raw) + i, *b = (j < i ? level : raw + kChannels * kStride) + j;
      for (int c = 0; c < kChannels; ++c) near[n] += a[c * kStride] * b[c * kStride];
    }
  }

  /// Calls f(i, j, weight) for all pairs, with 0 if j > i, each by one thread.
  template <class F>
  __device__ __forceinline__ void each(F f) const {
#pragma unroll
    for (int n = 0; n < kOwn; ++n) {
      const int i = apart.row(n), j = apart.column(n);
      if (i / kBlock != j / kBlock) f(i, j, i > j ? apart.at[n] : 0.f);
    }
#pragma unroll
    for (int n = 0; n < 4; ++n) f(own_row(), own_column() + n, near[n]);
  }

 private:
  static __device__ int own_row() {
    return static_cast<int>(threadIdx.x) / 64 * kBlock + static_cast<int>(threadIdx.x) % 64 / 4;
  }
  static __device__ int own_column() {
    return static_cast<int>(threadIdx.x) / 64 * kBlock + static_cast<int>(threadIdx.x) % 4 * 4;
  }
};

/// raw [3, channel, token] = q, k and the log decays of a chunk, 0 behind its end.
template <int kChannels, int kStride, class T>
__device__ void load_raw(float* raw, const T* q, std::int64_t q_stride, const T* k, std::int64_t k_stride,
                         const float* log_decay, std::int64_t stride, int step, std::int64_t tokens, int channels) {
  for (int i = static_cast<int>(threadIdx.x); i < kChannels * kChunk; i += kThreads) {
    const int t = i / kChannels, c = i % kChannels, to = c * kStride + t;
    const bool inside = t < tokens && c < channels;
    raw[to] = inside ? number(q[t * q_stride + c]) : 0.f;
    raw[kChannels * kStride + to] = inside ? number(k[t * k_stride + c]) : 0.f;
    raw[2 * kChannels * kStride + to] = inside && log_decay != nullptr ? log_decay[t * stride + c * step] : 0.f;
  }
}

}  // namespace
}  // namespace ablate::kernels::cuda
