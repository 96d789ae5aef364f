// Backward pass of kernel attention, and the sequence of kernel launches in both directions.
#pragma once

#include "core/kernels/cuda/kernel_attention_form.h"

namespace ablate::kernels::cuda {
namespace {

template <class T>
struct KernelAttentionBackward {
  KernelAttention<T> of;
  Heads<const T> d_out;
  KernelAttentionSaved saved;
  KernelAttentionGradients<T> to;
  float* of_sums;         ///< [sequences, tokens]: gradient of each query's sum of weights, times that sum: -d_out.out
  const float* d_memory;  ///< [sequences, d, d_value]
  const float* d_totals;  ///< [sequences, d]
};

/// Returns the sum of row threadIdx.x of the products [row, column], in threads below kSide. Rows are kRow apart. All threads
/// must call it after they wrote the products. Afterwards the memory may be reused.
__device__ __forceinline__ float sum_of_row(const float* products) {
  float sum = 0;
  __syncthreads();
  if (threadIdx.x < kSide)
    for (int x = 0; x < kSide; ++x) sum += products[static_cast<int>(threadIdx.x) * kRow + x];
  __syncthreads();
  return sum;
}

/// dphi(q) = (G + of_sum totals) / sum, where G = d_out memory^T, and of_sum = -phi(q).G / sum. If keys have a common part,
/// both terms are many times as large as their sum. Rounding errors cancel because both terms use the same G. They would not
/// cancel with `out`, which is rounded separately.
template <class T>
__global__ void __launch_bounds__(kThreads, kBlocks) query_gradients(KernelAttentionBackward<T> call) {
  ABLATE_SHARED(float, tiles, 2 * kDeep * kRow);
  ABLATE_SHARED(float, of_sum, kSide);
  static_assert(2 * kDeep == kSide, "products of rows take the operands' place");
  const auto& of = call.of;
  const auto rows = pieces(of.shape.tokens, kSide), sequence = blockIdx.x / rows, first = blockIdx.x % rows * kSide;
  const auto tokens = of.shape.tokens - first, heads = of.shape.heads;
  const T* q = at(of.q, heads, sequence) + first * of.q.token;
  const T* d_out = at(call.d_out, heads, sequence) + first * call.d_out.token;
  T* to = at(call.to.q, heads, sequence) + first * call.to.q.token;
  const float *memory = call.saved.memory + sequence * of.d * of.d_value, *totals = call.saved.totals + sequence * of.d;
  const float* inverse = call.saved.inverse + sequence * of.shape.tokens + first;
  const Phi phi{of.features};
  float *as = tiles, *bs = tiles + kDeep * kRow;
  const int self = static_cast<int>(threadIdx.x);
  const auto product = [&](Tile<T>& tile, int left) {
    for (int y = 0; y < of.d_value; y += kDeep) {
      load_columns(as, kDeep, d_out + y, call.d_out.token, tokens, of.d_value - y, AsItIs());
      load_columns(bs, kDeep, memory + left * of.d_value + y, of.d_value, of.d - left, of.d_value - y, AsItIs());
      __syncthreads();
      tile.add_exact(as, bs, kDeep);
      __syncthreads();
    }
  };
  const auto dots = [&](const Tile<T>& tile, int left) {
    for (int i = 0; i < kOwn; ++i) {
      const int row = tile.row(i), x = left + tile.column(i);
      const bool inside = row < tokens && x < of.d;
      tiles[row * kRow + tile.column(i)] = inside ? tile.at[i] * phi(number(q[row * of.q.token + x])) : 0.f;
    }
    return sum_of_row(tiles);
  };
  const auto write = [&](const Tile<T>& tile, int left) {
    for (int i = 0; i < kOwn; ++i) {
      const int row = tile.row(i), x = left + tile.column(i);
      if (row >= tokens || x >= of.d) continue;
      const float slope = phi.slope(phi(number(q[row * of.q.token + x])));
      put(to + row * call.to.q.token + x,
          inverse[row] == 0 ? 0.f : (tile.at[i] + of_sum[row] * totals[x]) * inverse[row] * slope);
    }
  };
  // G is stored for the first channels. The other channels are processed first. Their G is computed twice, by the same sums.
  float sum = 0;
#pragma unroll 1
  for (int left = 2 * kSide; left < of.d; left += kSide) {
    Tile<T> tile;
    product(tile, left);
    sum += dots(tile, left);
  }
  Tile<T> halves[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (half * kSide >= of.d) break;
    product(halves[half], half * kSide);
    sum += dots(halves[half], half * kSide);
  }
  if (self < kSide) {
    // 0 for a query that reads 0, whatever its gradient is.
    of_sum[self] = self >= tokens || inverse[self] == 0 ? 0.f : -sum * inverse[self];
    if (self < tokens) call.of_sums[sequence * of.shape.tokens + first + self] = of_sum[self];
  }
  __syncthreads();
#pragma unroll
  for (int half = 0; half < 2; ++half) write(halves[half], half * kSide);
#pragma unroll 1
  for (int left = 2 * kSide; left < of.d; left += kSide) {
    Tile<T> tile;
    product(tile, left);
    write(tile, left);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocks) key_gradients(KernelAttentionBackward<T> call) {
  ABLATE_SHARED(float, tiles, 2 * kDeep * kRow);
  static_assert(2 * kDeep == kSide, "products of rows take the operands' place");
  const auto& of = call.of;
  const auto rows = pieces(of.keys, kSide), sequence = blockIdx.x / rows, first = blockIdx.x % rows * kSide;
  const auto tokens = of.keys - first, heads = of.shape.heads;
  const T* k = at(of.k, heads, sequence) + first * of.k.token;
  const T* v = at(of.v, heads, sequence) + first * of.v.token;
  const float* mass = of.mass.data == nullptr ? nullptr : at(of.mass, heads, sequence) + first * of.mass.token;
  const float *memory = call.d_memory + sequence * of.d * of.d_value, *totals = call.d_totals + sequence * of.d;
  const Phi phi{of.features};
  float *as = tiles, *bs = tiles + kDeep * kRow;
  const int self = static_cast<int>(threadIdx.x);
  float of_mass = 0;
  for (int left = 0; left < of.d; left += kSide) {
    Tile<T> tile;
    for (int y = 0; y < of.d_value; y += kDeep) {
      load_columns(as, kDeep, v + y, of.v.token, tokens, of.d_value - y, AsItIs());
      load_columns(bs, kDeep, memory + left * of.d_value + y, of.d_value, of.d - left, of.d_value - y, AsItIs());
      __syncthreads();
      tile.add_exact(as, bs, kDeep);
      __syncthreads();
    }
    T* to = at(call.to.k, heads, sequence) + first * call.to.k.token;
    for (int i = 0; i < kOwn; ++i) {
      const int row = tile.row(i), x = left + tile.column(i);
      const bool inside = row < tokens && x < of.d;
      const float value = inside ? phi(number(k[row * of.k.token + x])) : 0.f;
      const float by = inside ? weight(mass, of.mass.token, row) : 0.f;
      const float gradient = inside ? tile.at[i] + totals[x] : 0.f;
      if (inside) put(to + row * call.to.k.token + x, by == 0 ? 0.f : gradient * by * phi.slope(value));
      tiles[row * kRow + tile.column(i)] = gradient * value;
    }
    of_mass += sum_of_row(tiles);
  }
  if (call.to.mass.data != nullptr && self < kSide && self < tokens)
    at(call.to.mass, heads, sequence)[(first + self) * call.to.mass.token] = of_mass;
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocks) value_gradients(KernelAttentionBackward<T> call) {
  ABLATE_SHARED(float, tiles, 2 * kDeep * kRow);
  const auto& of = call.of;
  const auto rows = pieces(of.keys, kSide), sequence = blockIdx.x / rows, first = blockIdx.x % rows * kSide;
  const auto tokens = of.keys - first, heads = of.shape.heads;
  const T* k = at(of.k, heads, sequence) + first * of.k.token;
  const float* mass = of.mass.data == nullptr ? nullptr : at(of.mass, heads, sequence) + first * of.mass.token;
  const float* memory = call.d_memory + sequence * of.d * of.d_value;
  const Phi phi{of.features};
  float *as = tiles, *bs = tiles + kDeep * kRow;
  T* to = at(call.to.v, heads, sequence) + first * call.to.v.token;
  for (int left = 0; left < of.d_value; left += kSide) {
    Tile<T> tile;
    for (int x = 0; x < of.d; x += kDeep) {
      load_columns(as, kDeep, k + x, of.k.token, tokens, of.d - x, [&](float value, int) { return phi(value); });
      load_rows(bs, kDeep, memory + x * of.d_value + left, of.d_value, of.d - x, of.d_value - left, AsItIs());
      __syncthreads();
      tile.add(as, bs, kDeep);
      __syncthreads();
    }
    for (int i = 0; i < kOwn; ++i) {
      const int row = tile.row(i), y = left + tile.column(i);
      if (row >= tokens || y >= of.d_value) continue;
      const float by = weight(mass, of.mass.token, row);
      put(to + row * call.to.v.token + y, by == 0 ? 0.f : tile.at[i] * by);
    }
  }
}

template <class T>
const char* wrong(const KernelAttention<T>& of) {
  if (of.shape.batch < 0 || of.shape.heads < 1 || of.shape.tokens < 0 || of.keys < 0)
    return "kernel attention: found a size below 0 or no head";
  if (of.d < 1 || of.d > kMostChannels || of.d_value < 1 || of.d_value > kMostChannels)
    return "kernel attention: expected heads of 1 to 1024 channels";
  return nullptr;
}

template <class T>
const char* summed(OuterSums<T> of, std::int64_t sequences, float* scratch, float* sums, float* totals, void* stream) {
  const auto count = pieces(of.tokens, kPiece), numbers = std::int64_t{of.d} * of.d_value;
  const auto tiles = pieces(of.d, kSide) * pieces(of.d_value, kSide);
  of.sums = scratch, of.totals = scratch + sequences * count * numbers;
  const auto* error = launch(outer_sums<T>, sequences * count * tiles, kThreads, 0, stream, of);
  if (error != nullptr) return error;
  error = launch(sum_pieces, pieces(sequences * numbers, kThreads), kThreads, 0, stream, static_cast<const float*>(of.sums),
                 sums, sequences, count, numbers);
  if (error != nullptr) return error;
  return launch(sum_pieces, pieces(sequences * of.d, kThreads), kThreads, 0, stream, static_cast<const float*>(of.totals),
                totals, sequences, count, std::int64_t{of.d});
}

template <class T>
const char* forward(const KernelAttention<T>& of, const Heads<T>& out, const KernelAttentionSaved& saved, float* scratch,
                    void* stream) {
  if (const auto* error = wrong(of)) return error;
  const auto sequences = of.shape.batch * of.shape.heads;
  const OuterSums<T> sums{of.shape.heads, of.keys, of.d, of.d_value, {of.features}, of.k, of.v, of.mass, {}, nullptr, nullptr};
  if (const auto* error = summed(sums, sequences, scratch, saved.memory, saved.totals, stream)) return error;
  return launch(read<T>, sequences * pieces(of.shape.tokens, kSide), kThreads, 0, stream, Reads<T>{of, out, saved});
}

template <class T>
const char* backward(const KernelAttention<T>& of, const Heads<const T>& d_out, const KernelAttentionSaved& saved,
                     const KernelAttentionGradients<T>& to, float* scratch, void* stream) {
  if (const auto* error = wrong(of)) return error;
  const auto& shape = of.shape;
  const auto sequences = shape.batch * shape.heads, numbers = std::int64_t{of.d} * of.d_value;
  float *of_sums = scratch, *d_memory = of_sums + sequences * shape.tokens, *d_totals = d_memory + sequences * numbers;
  const KernelAttentionBackward<T> call{of, d_out, saved, to, of_sums, d_memory, d_totals};
  const auto* error = launch(query_gradients<T>, sequences * pieces(shape.tokens, kSide), kThreads, 0, stream, call);
  if (error != nullptr) return error;
  const auto by_query = [&](const float* numbers_of) {
    return Heads<const float>{numbers_of, shape.heads * shape.tokens, shape.tokens, 1};
  };
  const OuterSums<T> sums{shape.heads,       shape.tokens, of.d,   of.d_value,
                          {of.features},     of.q,         d_out,  by_query(saved.inverse),
                          by_query(of_sums), nullptr,      nullptr};
  error = summed(sums, sequences, d_totals + sequences * of.d, d_memory, d_totals, stream);
  if (error != nullptr) return error;
  error = launch(key_gradients<T>, sequences * pieces(of.keys, kSide), kThreads, 0, stream, call);
  if (error != nullptr) return error;
  return launch(value_gradients<T>, sequences * pieces(of.keys, kSide), kThreads, 0, stream, call);
}

}  // namespace
}  // namespace ablate::kernels::cuda
