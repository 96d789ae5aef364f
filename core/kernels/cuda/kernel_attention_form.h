// Kernels of kernel_attention.h for one type, compiled by kernel_attention.cu and kernel_attention_bf16.cu.
#pragma once

#include "core/kernels/cuda/kernel_attention.h"
#include "core/kernels/cuda/tile.h"

namespace ablate::kernels::cuda {
namespace {

constexpr float kMost = 3.4028235e38f;    // largest float32: a larger sum gives NaN
constexpr int kDeep = 32;                 // depth of a product's step
constexpr int kPiece = 256;               // tokens that one block sums
constexpr float kLeast = 1.0842022e-19f;  // root of the least normal float32: gradients are divided by a sum's square

/// For NaN, phi and its slope are NaN, except the slope of kRelu and of kGiven, which is 1. The reference does the same.
struct Phi {
  Features map;
  __device__ float operator()(float x) const {
    if (map == Features::kElu) return x > 0 ? x + 1 : expf(x);
    return map == Features::kRelu && x <= 0 ? 0.f : x;
  }
  /// Returns phi' of a number whose phi is `value`.
  __device__ float slope(float value) const {
    if (map == Features::kElu) return value > 1 ? 1.f : value;
    return map == Features::kRelu && value <= 0 ? 0.f : 1.f;
  }
};

template <class T>
__device__ T* at(const Heads<T>& of, std::int64_t heads, std::int64_t sequence) {
  return of.data + sequence / heads * of.batch + sequence % heads * of.head;
}

/// sums [d, d_value] = sum_t (scale_t phi(a_t)) b_t^T, and totals [d] = sum_t (scale_t phi(a_t)) extra_t, over the tokens t of
/// each piece. Forward: a is k, b is v, and scale is the mass. Backward: a is q, b is the gradient, scale is 1 over the query's
/// sum, and extra is -d_out.out. Sums and totals use the same rounded numbers in brackets, and b is not rounded. A common part
/// of all b is then equal in sums and totals, and cancels in gradients, which are their differences.
template <class T>
struct OuterSums {
  std::int64_t heads, tokens;
  int d, d_value;
  Phi phi;
  Heads<const T> a, b;
  Heads<const float> scale, extra;  // no data: 1
  float *sums, *totals;             // [sequences, pieces, d, d_value], [sequences, pieces, d]
};

__device__ float weight(const float* weights, std::int64_t stride, std::int64_t token) {
  return weights == nullptr ? 1.f : weights[token * stride];
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocks) outer_sums(OuterSums<T> of) {
  ABLATE_SHARED(float, tiles, 2 * kDeep * kRow);
  const auto down = pieces(of.d, kSide), across = pieces(of.d_value, kSide), count = pieces(of.tokens, kPiece);
  std::int64_t block = blockIdx.x;
  const int left = static_cast<int>(block % across) * kSide, top = static_cast<int>(block / across % down) * kSide;
  block /= across * down;  // [sequences, pieces]
  const auto sequence = block / count, begin = block % count * kPiece;
  const auto end = begin + kPiece < of.tokens ? begin + kPiece : of.tokens;
  const T *a = at(of.a, of.heads, sequence), *b = at(of.b, of.heads, sequence);
  const float* scale = of.scale.data == nullptr ? nullptr : at(of.scale, of.heads, sequence);
  const float* extra = of.extra.data == nullptr ? nullptr : at(of.extra, of.heads, sequence);
  float *as = tiles, *bs = tiles + kDeep * kRow;
  Tile<T> tile;
  float total = 0;
  for (auto first = begin; first < end; first += kDeep) {
    load_rows(as, kDeep, a + first * of.a.token + top, of.a.token, end - first, of.d - top, [&](float x, int row) {
      const float by = weight(scale, of.scale.token, first + row);
      return by == 0 ? 0.f : rounded<T>(of.phi(x) * by);  // 0 for a token that does not count, whatever it holds
    });
    load_rows(bs, kDeep, b + first * of.b.token + left, of.b.token, end - first, of.d_value - left,
              [&](float x, int row) { return weight(scale, of.scale.token, first + row) == 0 ? 0.f : x; });
    __syncthreads();
    tile.add(as, bs, kDeep);
    if (left == 0 && threadIdx.x < kSide)
      for (int row = 0; row < kDeep && first + row < end; ++row)
        total += as[row * kRow + threadIdx.x] * weight(extra, of.extra.token, first + row);
    __syncthreads();
  }
  float* sums = of.sums + block * of.d * of.d_value;
  for (int i = 0; i < kOwn; ++i) {
    const int x = top + tile.row(i), y = left + tile.column(i);
    if (x < of.d && y < of.d_value) sums[x * of.d_value + y] = tile.at[i];
  }
  const int x = top + static_cast<int>(threadIdx.x);
  if (left == 0 && threadIdx.x < kSide && x < of.d) of.totals[block * of.d + x] = total;
}

/// to [sequences, numbers] = the sum of [sequences, pieces, numbers] over pieces, in their order.
__global__ void __launch_bounds__(kThreads, kBlocks)
    sum_pieces(const float* from, float* to, std::int64_t sequences, std::int64_t count, std::int64_t numbers) {
  const auto i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= sequences * numbers) return;
  float sum = 0;
  for (std::int64_t piece = 0; piece < count; ++piece) sum += from[(i / numbers * count + piece) * numbers + i % numbers];
  to[i] = sum;
}

/// Reads of tokens from a sequence's sums: 64 tokens a block.
template <class T>
struct Reads {
  KernelAttention<T> of;
  Heads<T> out;
  KernelAttentionSaved saved;
};

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocks) read(Reads<T> call) {
  ABLATE_SHARED(float, tiles, 2 * kDeep * kRow);
  ABLATE_SHARED(float, inverse, kSide);
  const auto& of = call.of;
  const auto rows = pieces(of.shape.tokens, kSide), sequence = blockIdx.x / rows, first = blockIdx.x % rows * kSide;
  const auto tokens = of.shape.tokens - first;
  const T* q = at(of.q, of.shape.heads, sequence) + first * of.q.token;
  T* out = at(call.out, of.shape.heads, sequence) + first * call.out.token;
  const float *memory = call.saved.memory + sequence * of.d * of.d_value, *totals = call.saved.totals + sequence * of.d;
  const Phi phi{of.features};
  float *as = tiles, *bs = tiles + kDeep * kRow;
  const int self = static_cast<int>(threadIdx.x);
  float sum = 0;
  for (int left = 0; left < of.d_value; left += kSide) {
    Tile<T> tile;
    for (int x = 0; x < of.d; x += kDeep) {
      load_columns(as, kDeep, q + x, of.q.token, tokens, of.d - x, [&](float value, int) { return phi(value); });
      load_rows(bs, kDeep, memory + x * of.d_value + left, of.d_value, of.d - x, of.d_value - left, AsItIs());
      __syncthreads();
      tile.add(as, bs, kDeep);
      if (left == 0 && self < kSide)
        for (int i = 0; i < kDeep && x + i < of.d; ++i) sum += as[i * kRow + self] * totals[x + i];
      __syncthreads();
    }
    if (left == 0 && self < kSide) {
      inverse[self] = sum <= kLeast ? 0.f : sum <= kMost ? 1 / sum : NAN;  // also NaN if the sum is NaN
      if (self < tokens) call.saved.inverse[sequence * of.shape.tokens + first + self] = inverse[self];
    }
    __syncthreads();
    for (int i = 0; i < kOwn; ++i) {
      const int row = tile.row(i), y = left + tile.column(i);
      // 0 is written, not multiplied: in a query that reads nothing, an overflow times 0 would be NaN.
      if (row < tokens && y < of.d_value)
        put(out + row * call.out.token + y, inverse[row] == 0 ? 0.f : tile.at[i] * inverse[row]);
    }
  }
}

}  // namespace
}  // namespace ablate::kernels::cuda
