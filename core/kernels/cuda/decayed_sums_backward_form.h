// Backward pass of decayed sums: the gradients of queries, keys and log decays.
#pragma once

#include "core/kernels/cuda/decayed_sums_form.h"

namespace ablate::kernels::cuda {
namespace {

constexpr int kSlice = 8;  // channels of a step
constexpr int kThin = 65;  // floats from a channel to the next, so that neighbours use different banks
constexpr int kLevelSize = kSlice * kThin;
constexpr int kSlicePool = (2 * kLevels + 3) * kLevelSize;
static_assert(kSlicePool >= 2 * kDeep * kRow, "a product's operands fit");

template <class T>
struct DecayedSumsBackward {
  DecayedSums<T> of;
  Heads<const T> d_out;
  const float *before, *kept, *d_after;  ///< d_after: gradient of the sums behind each chunk
  float *of_queries, *of_keys;           ///< [sequences, tokens, d]: gradients through the sums before and behind the chunk
  float* through;                        ///< [sequences, chunks, d]: log decays' gradient from the sums that cross the chunk
  DecayedSumsGradients<T> to;
};

/// of_queries = d_out before^T, of_keys = v d_after^T, both without decays. Blocks: [sequences, chunks, 2].
template <class T>
__global__ void __launch_bounds__(kThreads, kBlocks) between_chunks(DecayedSumsBackward<T> call) {
  ABLATE_SHARED(float, tiles, 2 * kDeep * kRow);
  const auto& of = call.of;
  const bool keys = blockIdx.x % 2 != 0;
  const std::int64_t block = blockIdx.x / 2;
  const ChunkOf piece(block, of.shape.tokens);
  const auto& from = keys ? of.v : call.d_out;
  const T* a = at(from, of.shape.heads, piece.sequence, piece.first);
  const float* sums = (keys ? call.d_after : call.before) + block * of.d * of.d_value;
  float* to = (keys ? call.of_keys : call.of_queries) + (piece.sequence * of.shape.tokens + piece.first) * of.d;
  float *as = tiles, *bs = tiles + kDeep * kRow;
  for (int left = 0; left < of.d; left += kSide) {
    Tile<T> tile;
    for (int y = 0; y < of.d_value; y += kDeep) {
      load_columns(as, kDeep, a + y, from.token, piece.tokens, of.d_value - y, AsItIs());
      load_columns(bs, kDeep, sums + left * of.d_value + y, of.d_value, of.d - left, of.d_value - y, AsItIs());
      __syncthreads();
      tile.add(as, bs, kDeep);
      __syncthreads();
    }
    for (int i = 0; i < kOwn; ++i) {
      const int row = tile.row(i), x = left + tile.column(i);
      if (row < piece.tokens && x < of.d) to[row * of.d + x] = tile.at[i];
    }
  }
}

/// Computes `through`, one warp for each channel of each chunk. `rows` is sequences * chunks * d.
template <class T>
__global__ void __launch_bounds__(kThreads, kBlocks) through_chunks(DecayedSumsBackward<T> call, std::int64_t rows) {
  const auto row = static_cast<std::int64_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  const int d_value = call.of.d_value, lane = static_cast<int>(threadIdx.x) % 32;
  float sum = 0;
  if (row < rows)
    for (int y = lane; y < d_value; y += 32) sum += call.before[row * d_value + y] * call.d_after[row * d_value + y];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0U, sum, by);
  if (row < rows && lane == 0) call.through[row] = call.kept[row] * sum;
}

/// Converts both in place: `made` from a half's decayed rows to the gradient of their log decays, and `to` from the gradient of
/// the decayed rows to the gradient of the undecayed rows. A decay is a factor of all products across it, so its gradient is a
/// sum of products, without differences.
__device__ void through_decays(float* made, float* to, const float* log_decay, int first, int size, bool upper) {
  float run = 0, sum = 0;
  for (int n = 0; n < size; ++n) {
    const int t = upper ? first + n : first + size - 1 - n;
    if (upper) run += log_decay[t];
    made[t] *= to[t];
    to[t] *= expf(run);
    if (!upper) run += log_decay[t];
  }
  for (int n = 0; n < size; ++n) {
    const int t = upper ? first + size - 1 - n : first + n;
    const float own = made[t];
    made[t] = upper ? sum + own : sum;  // a query's own decay counts, and a key's does not
    sum += own;
  }
}

/// Computes the gradients of a chunk's queries, keys and log decays.
template <class T>
__global__ void __launch_bounds__(kThreads, kBlocks) chunk_gradients(DecayedSumsBackward<T> call) {
  ABLATE_SHARED(float, of_pairs, kChunk* kThin);
  ABLATE_SHARED(float, pool, kSlicePool);
  const auto& of = call.of;
  const ChunkOf piece(blockIdx.x, of.shape.tokens);
  const auto heads = of.shape.heads;
  const int self = static_cast<int>(threadIdx.x), row = self % kChunk, step = of.alike ? 0 : 1;
  {
    const T *d_out = at(call.d_out, heads, piece.sequence, piece.first), *v = at(of.v, heads, piece.sequence, piece.first);
    float *as = pool, *bs = pool + kDeep * kRow;
    Tile<T> tile;
    for (int y = 0; y < of.d_value; y += kDeep) {
      load_columns(as, kDeep, d_out + y, call.d_out.token, piece.tokens, of.d_value - y, AsItIs());
      load_columns(bs, kDeep, v + y, of.v.token, piece.tokens, of.d_value - y, AsItIs());
      __syncthreads();
      tile.add(as, bs, kDeep);
      __syncthreads();
    }
    for (int i = 0; i < kOwn; ++i) of_pairs[tile.row(i) * kThin + tile.column(i)] = tile.at[i];
  }
  float *levels = pool, *by = levels + kLevels * kLevelSize, *raw = by + kLevels * kLevelSize;
  const float *raw_k = raw + kLevelSize, *raw_decay = raw + 2 * kLevelSize;
  const T *q = at(of.q, heads, piece.sequence, piece.first), *k = at(of.k, heads, piece.sequence, piece.first);
  const float* log_decay = decays_at(of, piece);
  const auto first = (piece.sequence * of.shape.tokens + piece.first) * of.d;
  const float *of_queries = call.of_queries + first, *of_keys = call.of_keys + first;
  const float* through = call.through + static_cast<std::int64_t>(blockIdx.x) * of.d;
  T *to_q = at(call.to.q, heads, piece.sequence, piece.first), *to_k = at(call.to.k, heads, piece.sequence, piece.first);
  float* to_decay = call.to.log_decay.data == nullptr ? nullptr : at(call.to.log_decay, heads, piece.sequence, piece.first);
  float alike = 0;
  for (int x = 0; x < of.d; x += kSlice) {
    load_raw<kSlice, kThin>(raw, q + x, of.q.token, k + x, of.k.token, log_decay + x * step, of.log_decay.token, step,
                            piece.tokens, of.d - x);
    __syncthreads();
    make_levels<kSlice, kThin>(levels, raw);
    __syncthreads();
    for (int c = self / kChunk; c < kSlice; c += kThreads / kChunk)
      for (int level = 0; level < kLevels; ++level) {
        const int size = 1 << level, block = row >> (level + 1) << (level + 1);
        const float* made = levels + level * kLevelSize + c * kThin;
        float sum = 0;
        if (row >> level & 1)
          for (int j = block; j < block + size; ++j) sum += of_pairs[row * kThin + j] * made[j];
        else
          for (int i = block + size; i < block + 2 * size; ++i) sum += of_pairs[i * kThin + row] * made[i];
        by[level * kLevelSize + c * kThin + row] = sum;
      }
    __syncthreads();
    if (self < kSlice * kLevels * 2) {
      const int at_level = self / kSlice % kLevels, c = self % kSlice, from = at_level * kLevelSize + c * kThin;
      each_half(at_level, self / (kSlice * kLevels), [&](int begin, bool upper) {
        through_decays(levels + from, by + from, raw_decay + c * kThin, begin, 1 << at_level, upper);
      });
    }
    __syncthreads();
    constexpr int kMine = kSlice * kChunk / kThreads;
    float dq[kMine], dk[kMine], d_decay[kMine];
#pragma unroll
    for (int n = 0; n < kMine; ++n) {
      const int c = self / kChunk + n * (kThreads / kChunk), from = c * kThin + row;
      const float own = of_pairs[row * kThin + row];
      dq[n] = own * raw_k[from], dk[n] = own * raw[from], d_decay[n] = 0;
      for (int level = 0; level < kLevels; ++level) {
        const float gradient = by[level * kLevelSize + from];
        if (row >> level & 1)
          dq[n] += gradient;
        else
          dk[n] += gradient;
        d_decay[n] += levels[level * kLevelSize + from];
      }
    }
    __syncthreads();
    // Two more levels, each over the whole chunk: queries that read earlier chunks, and keys that later chunks read.
    for (int i = self; i < kSlice * kChunk; i += kThreads) {
      const int t = i / kSlice, c = i % kSlice, from = c * kThin + t;
      const bool inside = t < piece.tokens && x + c < of.d;
      by[from] = inside ? of_queries[t * of.d + x + c] : 0.f;
      by[kLevelSize + from] = inside ? of_keys[t * of.d + x + c] : 0.f;
    }
    __syncthreads();
    if (self < 2 * kSlice) {
      const int c = self % kSlice, from = self / kSlice * kLevelSize + c * kThin;
      const bool query = self < kSlice;
      float run = 0;
      for (int n = 0; n < kChunk; ++n) {
        const int t = query ? n : kChunk - 1 - n;
        if (query) run += raw_decay[c * kThin + t];
        levels[from + t] = raw[from + t] * expf(run);
        if (!query) run += raw_decay[c * kThin + t];
      }
      through_decays(levels + from, by + from, raw_decay + c * kThin, 0, kChunk, query);
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < kMine; ++n) {
      const int c = self / kChunk + n * (kThreads / kChunk), from = c * kThin + row;
      if (row >= piece.tokens || x + c >= of.d) continue;
      put(to_q + row * call.to.q.token + x + c, dq[n] + by[from]);
      put(to_k + row * call.to.k.token + x + c, dk[n] + by[kLevelSize + from]);
      const float gradient = d_decay[n] + levels[from] + levels[kLevelSize + from] + through[x + c];
      if (of.alike)
        alike += gradient;
      else if (to_decay != nullptr)
        to_decay[row * call.to.log_decay.token + x + c] = gradient;
    }
    __syncthreads();
  }
  if (!of.alike || to_decay == nullptr) return;
  pool[self] = alike;
  __syncthreads();
  if (self < piece.tokens)
    to_decay[self * call.to.log_decay.token] =
        (pool[self] + pool[self + kChunk]) + (pool[self + 2 * kChunk] + pool[self + 3 * kChunk]);
}

}  // namespace
}  // namespace ablate::kernels::cuda
