// Kernels of decayed sums for one type: the sums that each chunk adds, one pass over all chunks, and the reads of tokens.
#pragma once

#include "core/kernels/cuda/decayed_sums.h"
#include "core/kernels/cuda/decays.h"

namespace ablate::kernels::cuda {
namespace {

constexpr int kDeep = 32;                                // depth of a product's step
constexpr int kChannels = 16;                            // channels in a step of the sums over pairs
constexpr int kPool = (kLevels + 3) * kChannels * kRow;  // floats: operands of pairs, later weights and operands of products
static_assert(kPool >= kChunk * kRow + 2 * kDeep * kRow + kThreads, "weights and operands of products fit, too");

template <class T>
__device__ T* at(const Heads<T>& of, std::int64_t heads, std::int64_t sequence, std::int64_t token) {
  return of.data + sequence / heads * of.batch + sequence % heads * of.head + token * of.token;
}

/// Range of tokens that a block processes.
struct ChunkOf {
  std::int64_t sequence, chunk, first, tokens;
  __device__ ChunkOf(std::int64_t block, std::int64_t all_tokens) {
    const auto chunks = pieces(all_tokens, kChunk);
    sequence = block / chunks, chunk = block % chunks, first = chunk * kChunk;
    tokens = all_tokens - first < kChunk ? all_tokens - first : kChunk;
  }
};

/// Returns the log decays of a chunk's first token, or nullptr without a decay.
template <class T>
__device__ const float* decays_at(const DecayedSums<T>& of, const ChunkOf& piece) {
  return of.log_decay.data == nullptr ? nullptr : at(of.log_decay, of.shape.heads, piece.sequence, piece.first);
}

/// sums [sequences, chunks, d, d_value] = sum_t (a_t times decays) b_t^T. Forward: a is k, b is v, with decays behind t.
/// Backward (gradient of the sums before a chunk): a is q, b is the gradient of the outputs, with decays up to t.
template <class T>
struct ChunkSums {
  DecayedSums<T> of;
  Heads<const T> a, b;
  float *sums, *kept;
};

template <class T, bool kBehind>
__global__ void __launch_bounds__(kThreads, kBlocks) chunk_sums(ChunkSums<T> call) {
  ABLATE_SHARED(float, tiles, 2 * kChunk * kRow);
  ABLATE_SHARED(float, parts, kThreads);
  const auto& of = call.of;
  const auto down = pieces(of.d, kSide), across = pieces(of.d_value, kSide);
  const auto tile_of = blockIdx.x % (down * across), block = blockIdx.x / (down * across);
  const int left = static_cast<int>(tile_of % across) * kSide, top = static_cast<int>(tile_of / across) * kSide;
  const ChunkOf piece(block, of.shape.tokens);
  const auto heads = of.shape.heads;
  float *as = tiles, *bs = tiles + kChunk * kRow;
  load_rows(as, kChunk, at(call.a, heads, piece.sequence, piece.first) + top, call.a.token, piece.tokens, of.d - top, AsItIs());
  load_rows(bs, kChunk, at(call.b, heads, piece.sequence, piece.first) + left, call.b.token, piece.tokens, of.d_value - left,
            AsItIs());
  const int step = of.alike ? 0 : 1;
  const float* log_decay = decays_at(of, piece) + top * step;
  const float total = decay<kSide, kBehind>(as, kRow, 1, parts, log_decay, of.log_decay.token, step, piece.tokens, of.d - top);
  __syncthreads();
  Tile<T> tile;
  tile.add(as, bs, kChunk);
  float* sums = call.sums + block * of.d * of.d_value;
  for (int i = 0; i < kOwn; ++i) {
    const int x = top + tile.row(i), y = left + tile.column(i);
    if (x < of.d && y < of.d_value) sums[x * of.d_value + y] = tile.at[i];
  }
  const int x = top + static_cast<int>(threadIdx.x);
  if (kBehind && left == 0 && threadIdx.x < kSide && x < of.d) call.kept[block * of.d + x] = expf(total);
}

/// Passes over all chunks; each thread handles one number of the sums. The sums [sequences, chunks, d, d_value] that each chunk
/// adds become the sums before the chunk (behind it if `backwards`). begin, end: [sequences, d, d_value], or nullptr.
__global__ void __launch_bounds__(kThreads, kBlocks)
    pass(float* sums, const float* kept, const float* begin, float* end, std::int64_t sequences, std::int64_t chunks, int d,
         int d_value, bool backwards) {
  const auto numbers = std::int64_t{d} * d_value, i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= sequences * numbers) return;
  const auto sequence = i / numbers, number_of = i % numbers;
  float sum = begin == nullptr ? 0.f : begin[i];
  for (std::int64_t n = 0; n < chunks; ++n) {
    const auto chunk = sequence * chunks + (backwards ? chunks - 1 - n : n);
    float* const sums_here = sums + chunk * numbers + number_of;
    const float added = *sums_here;
    *sums_here = sum;
    sum = kept[chunk * d + number_of / d_value] * sum + added;
  }
  if (end != nullptr) end[i] = sum;
}

/// out_t = (a_t times decays) sums + reads between the chunk's tokens. Forward: queries read values and the sums before the
/// chunk. Backward (gradient of values): keys read the gradients of later tokens' outputs, and of the sums behind the chunk.
template <class T>
struct ChunkReads {
  DecayedSums<T> of;
  Heads<const T> a, b;
  const float* sums;  ///< [sequences, chunks, d, d_value]
  Heads<T> out;
};

template <class T, bool kBackward>
__global__ void __launch_bounds__(kThreads, kBlocks) read(ChunkReads<T> call) {
  ABLATE_SHARED(float, pool, kPool);
  const auto& of = call.of;
  const ChunkOf piece(blockIdx.x, of.shape.tokens);
  const auto heads = of.shape.heads;
  const int step = of.alike ? 0 : 1;
  const float* log_decay = decays_at(of, piece);
  {
    const T *q = at(of.q, heads, piece.sequence, piece.first), *k = at(of.k, heads, piece.sequence, piece.first);
    float *levels = pool, *raw = pool + kLevels * kChannels * kRow;
    Pairs<T> pairs;
    for (int x = 0; x < of.d; x += kChannels) {
      load_raw<kChannels, kRow>(raw, q + x, of.q.token, k + x, of.k.token, log_decay + x * step, of.log_decay.token, step,
                                piece.tokens, of.d - x);
      __syncthreads();
      make_levels<kChannels, kRow>(levels, raw);
      __syncthreads();
      pairs.template add<kChannels, kRow>(levels, raw);
      __syncthreads();
    }
    // The token that is summed over is the first index.
    pairs.each([&](int i, int j, float weight) { pool[kBackward ? i * kRow + j : j * kRow + i] = weight; });
  }
  const float* weights = pool;
  float *as = pool + kChunk * kRow, *bs = as + kDeep * kRow, *parts = bs + kDeep * kRow;
  const T *a = at(call.a, heads, piece.sequence, piece.first), *b = at(call.b, heads, piece.sequence, piece.first);
  T* out = at(call.out, heads, piece.sequence, piece.first);
  const float* sums = call.sums + static_cast<std::int64_t>(blockIdx.x) * of.d * of.d_value;
  for (int left = 0; left < of.d_value; left += kSide) {
    Tile<T> tile;
    for (int first = 0; first < kChunk; first += kDeep) {
      load_rows(bs, kDeep, b + first * call.b.token + left, call.b.token, piece.tokens - first, of.d_value - left, AsItIs());
      __syncthreads();
      tile.add(weights + first * kRow, bs, kDeep);
      __syncthreads();
    }
    for (int x = 0; x < of.d; x += kDeep) {
      load_columns(as, kDeep, a + x, call.a.token, piece.tokens, of.d - x, AsItIs());
      load_rows(bs, kDeep, sums + x * of.d_value + left, of.d_value, of.d - x, of.d_value - left, AsItIs());
      decay<kDeep, kBackward>(as, 1, kRow, parts, log_decay + x * step, of.log_decay.token, step, piece.tokens, of.d - x);
      __syncthreads();
      tile.add(as, bs, kDeep);
      __syncthreads();
    }
    for (int i = 0; i < kOwn; ++i) {
      const int row = tile.row(i), y = left + tile.column(i);
      if (row < piece.tokens && y < of.d_value) put(out + row * call.out.token + y, tile.at[i]);
    }
  }
}

}  // namespace
}  // namespace ablate::kernels::cuda
