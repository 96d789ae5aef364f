// Vectors of 16 floats and the row operations of the CPU forms, with the compiler's vector types instead of intrinsics. All
// functions are inlined and have no linkage (see core/kernels/cpu/product.h).
#pragma once

#include "core/kernels/cpu/product.h"

#define ABLATE_INLINE static inline __attribute__((always_inline))
#define ABLATE_INLINE_MEMBER inline __attribute__((always_inline))

namespace ablate::kernels::cpu {

using V = float __attribute__((vector_size(64)));
using W = int __attribute__((vector_size(64)));
using LooseV = float __attribute__((vector_size(64), aligned(4), may_alias));

ABLATE_INLINE V load(const float* from) { return *reinterpret_cast<const LooseV*>(from); }
ABLATE_INLINE void store(float* to, V v) { *reinterpret_cast<LooseV*>(to) = v; }
ABLATE_INLINE V all(float x) { return V{} + x; }
/// Number of each lane.
ABLATE_INLINE W lanes() { return W{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
ABLATE_INLINE float sum(V v) {
  v += __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  return (v[0] + v[1]) + (v[2] + v[3]);
}

/// Returns the sums of 16 vectors. In each of four steps, halves of two vectors are added into one.
ABLATE_INLINE V sums(const V* of) {
  V a[8], b[4];
  for (int i = 0; i < 8; ++i) {
    const V x = of[2 * i], y = of[2 * i + 1];
    a[i] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
           __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  }
  for (int i = 0; i < 4; ++i) {
    const V x = a[2 * i], y = a[2 * i + 1];
    b[i] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
           __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  }
  for (int i = 0; i < 2; ++i) {
    const V x = b[2 * i], y = b[2 * i + 1];
    a[i] = __builtin_shufflevector(x, y, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) +
           __builtin_shufflevector(x, y, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
  }
  return __builtin_shufflevector(a[0], a[1], 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
         __builtin_shufflevector(a[0], a[1], 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
ABLATE_INLINE float largest(V v) {
  float most = v[0];
  for (int i = 1; i < kLanes; ++i) most = v[i] > most ? v[i] : most;
  return most;
}

/// to [columns, rows] = from [rows, columns], both multiples of 16. Rows are `from_row` and `to_row` floats apart. A block of
/// 16 x 16 is transposed by interleaving its upper and lower half four times.
ABLATE_INLINE void transpose(int rows, int columns, const float* from, int from_row, float* to, int to_row) {
  for (int i = 0; i < rows; i += kLanes)
    for (int j = 0; j < columns; j += kLanes) {
      V a[kLanes], b[kLanes];
      for (int r = 0; r < kLanes; ++r) a[r] = load(from + (i + r) * from_row + j);
      const auto interleave = [](const V* upper, V* out) __attribute__((always_inline)) {
        for (int r = 0; r < kLanes / 2; ++r) {
          out[2 * r] = __builtin_shufflevector(upper[r], upper[r + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
          out[2 * r + 1] =
              __builtin_shufflevector(upper[r], upper[r + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        }
      };
      interleave(a, b), interleave(b, a), interleave(a, b), interleave(b, a);
      for (int r = 0; r < kLanes; ++r) store(to + (j + r) * to_row + i, a[r]);
    }
}

/// e^x for x <= 0, to 2 units in the last place; e^-87 = 1.6e-38 below -87 (Cody and Waite's reduction, Cephes' polynomial).
ABLATE_INLINE V exponential(V x) {
  x = x < -87.f ? all(-87.f) : x;
  const V shifted = x * 1.44269504f + 12582912.f;  // 1.5 * 2^23 moves the whole number to the last binary digits
  const V n = shifted - 12582912.f;
  const V r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  V p = all(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f, p = p * r + 8.3334519073e-3f, p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f, p = p * r + 5.0000001201e-1f;
  const W power = (reinterpret_cast<W>(shifted) + 127) << 23;  // shifts out the whole number's upper digits
  return (p * (r * r) + r + 1.f) * reinterpret_cast<V>(power);
}

ABLATE_INLINE V sigmoid(V x) {
  const V e = exponential(x < 0.f ? x : -x);
  // exponential() stops at -87, so the result would not be 0 for smaller x.
  return (x < -87.f ? V{} : x < 0.f ? e : all(1.f)) / (e + 1.f);
}

/// x times the normal distribution function. `slope`, if not null, is set to the derivative. erf by Abramowitz and Stegun
/// 7.1.26 (to 1.5e-7, as in torch).
ABLATE_INLINE V gelu(V u, V* slope) {
  const V size = u < 0.f ? -u : u;
  const V e = exponential(u * u * -.5f);
  const V t = 1.f / (1.f + size * (.3275911f * .70710678f));
  V p = all(.5f * 1.061405429f);
  p = p * t - .5f * 1.453152027f, p = p * t + .5f * 1.421413741f, p = p * t - .5f * .284496736f;
  p = (p * t + .5f * .254829592f) * t * e;  // distribution function at -|u|
  const V share = u < 0.f ? p : 1.f - p;
  if (slope) *slope = share + u * e * .39894228f;
  return u * share;
}

/// Added to the mean square before a norm's square root.
inline constexpr float kNormEpsilon = 1e-5f;

/// Mean of a row, and 1 over its standard deviation.
struct Statistics {
  float mean, scale;
};
ABLATE_INLINE Statistics statistics(const float* x, int d) {
  V total{}, squares{};
  for (int j = 0; j < d; j += kLanes) total += load(x + j);
  const float mean = sum(total) / static_cast<float>(d);
  for (int j = 0; j < d; j += kLanes) {
    const V off = load(x + j) - mean;
    squares += off * off;
  }
  return {mean, 1 / __builtin_sqrtf(sum(squares) / static_cast<float>(d) + kNormEpsilon)};
}

}  // namespace ablate::kernels::cpu
