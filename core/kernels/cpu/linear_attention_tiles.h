// Operations of linear attention on a tile of tokens. Tiles are transposed, [channels, kTile], so a number for each token (a
// sum of weights, the largest exponent) is a lane.
#pragma once

#include "core/kernels/cpu/linear_attention.h"
#include "core/kernels/cpu/tiles.h"

namespace ablate::kernels::cpu {
namespace {

/// A query whose weights sum to at most this number reads 0 and has no gradient. Gradients are divided by the square of the
/// sum, which must not become 0.
constexpr float kLeastSum = 1.0842022e-19F;

// For NaN, phi and its slope are NaN, except relu's slope, which is 1. The reference does the same.
ABLATE_INLINE V phi(bool relu, V x) {
  if (relu) return x <= 0.F ? V{} : x;
  return x > 0.F ? x + 1.F : exponential(x > 0.F ? V{} : x);
}
/// phi' computed from phi.
ABLATE_INLINE V phi_slope(bool relu, V value) {
  if (relu) return value <= 0.F ? V{} : all(1.F);
  return value > 1.F ? all(1.F) : value;
}

/// Sizes and scratch of one call.
struct LinearAttentionTiles {
  const LinearAttentionCall& c;
  Scratch s;
  int d = c.d, heads = c.heads, dh = c.d_head, w = c.width(), f = c.of_head(), numbers = f * dh;  ///< numbers: of one head's S
  float *wq = s.take(d * w), *wk = s.take(d * w), *wv = s.take(d * w), *wo = s.take(w * d);       ///< transposed
  float* vectors = s.take(c.vectors ? heads * numbers : 0);                                       ///< transposed for each head
  float *tokens_t = s.take(d * kTile), *dy_t = s.take(d * kTile), *out_t = s.take(d * kTile);
  float *padded = s.take(kTile * d), *padded_dy = s.take(kTile * d), *out = s.take(kTile * d);
  float *a = s.take(w * kTile), *b = s.take(w * kTile), *of_a = s.take(w * kTile), *of_b = s.take(w * kTile);
  float* rows = s.take(kTile * w);                                        ///< a tile that is not transposed
  float *features = s.take(f * kTile), *of_features = s.take(f * kTile);  ///< of one head
  float *inverse = s.take(kTile), *lane = s.take(kTile), *factor = s.take(kTile), *of_factor = s.take(kTile);
  float *memory_t = s.take(heads * numbers), *by_memory = s.take(heads * (numbers + f));

  LinearAttentionTiles(const LinearAttentionCall& call, float* scratch) : c(call), s{scratch} {
    transpose(w, d, c.wq, d, wq, w), transpose(w, d, c.wk, d, wk, w), transpose(w, d, c.wv, d, wv, w);
    transpose(d, w, c.wo, w, wo, d);
    for (int h = 0; c.vectors != nullptr && h < heads; ++h)
      transpose(f, dh, c.vectors + h * numbers, dh, vectors + h * numbers, f);
  }

  /// Transposes each head [f, dh] -> [dh, f].
  void turn(const float* memory) {
    for (int h = 0; h < heads; ++h) transpose(f, dh, memory + h * numbers, dh, memory_t + h * numbers, f);
  }
  float* scales(float* memory) const { return memory + heads * (numbers + f); }
  const float* scales(const float* memory) const { return memory + heads * (numbers + f); }

  /// to [w, kTile] = W tokens_t + b.
  void project(const float* weight, const float* bias, float* to) const {
    c.product(w, kTile, d, weight, d, tokens_t, kTile, to, kTile, false);
    for (int i = 0; i < w; ++i)
      for (int t = 0; t < kTile; t += kLanes) store(to + i * kTile + t, load(to + i * kTile + t) + bias[i]);
  }

  /// Computes `features` of a head's queries. Their exponents omit |x|^2 / 2, which cancels in the result and in its gradient.
  void query_features(const float* channels, int h) const {
    if (c.vectors == nullptr) return map(channels);
    c.product(f, kTile, dh, c.vectors + h * numbers, dh, channels, kTile, features, kTile, false);
    for (int t = 0; t < kTile; t += kLanes) {
      V most = load(features + t);
      for (int i = 1; i < f; ++i) {
        const V x = load(features + i * kTile + t);
        most = x > most ? x : most;
      }
      for (int i = 0; i < f; ++i) {
        float* const x = features + i * kTile + t;
        store(x, exponential(load(x) - most));
      }
    }
  }
  void map(const float* channels) const {
    for (int i = 0; i < f * kTile; i += kLanes) store(features + i, phi(c.relu, load(channels + i)));
  }

  /// Sets `lane` to the mass of each key of a tile, 0 behind the last key. `mass` belongs to the sequence; null: 1 each.
  void count(const float* mass, std::int64_t begin) const {
    for (int i = 0; i < kTile; ++i) lane[i] = begin + i >= c.m ? 0.F : mass != nullptr ? mass[begin + i] : 1.F;
  }
  /// Returns a row's numbers times the masses of the keys: 0 for mass 0, even if the number is NaN.
  V weighed(V x, int t) const {
    const V counts = load(lane + t);
    return counts == 0.F ? V{} : x * counts;
  }

  /// Computes exponents of a head's keys in `features`. Returns the largest exponent of keys with mass > 0, or -infinity.
  float key_exponents(const float* channels, int h) const {
    c.product(f, kTile, dh, c.vectors + h * numbers, dh, channels, kTile, features, kTile, false);
    const float half = .5F / __builtin_sqrtf(static_cast<float>(dh));
    V largest_of_all = all(-__builtin_inff());
    for (int t = 0; t < kTile; t += kLanes) {
      V square{}, most = all(-__builtin_inff());
      for (int i = 0; i < dh; ++i) square += load(channels + i * kTile + t) * load(channels + i * kTile + t);
      for (int i = 0; i < f; ++i) {
        float* const x = features + i * kTile + t;
        const V exponent = load(x) - square * half;
        store(x, exponent);
        most = exponent > most ? exponent : most;
      }
      most = load(lane + t) == 0.F ? all(-__builtin_inff()) : most;
      largest_of_all = most > largest_of_all ? most : largest_of_all;
    }
    return largest(largest_of_all);
  }
  void raise(float scale) const {
    for (int i = 0; i < f * kTile; i += kLanes) store(features + i, exponential(load(features + i) - scale));
  }

  /// Adds a tile of keys to S and z. A new largest exponent scales down the earlier sums.
  void write(const float* tokens, float* memory) const {
    transpose(kTile, d, tokens, d, tokens_t, kTile);
    project(c.wk, c.bk, a);
    c.product(kTile, w, d, tokens, d, wv, w, rows, w, false);
    for (int i = 0; i < kTile; ++i)
      for (int j = 0; j < w; j += kLanes) store(rows + i * w + j, load(rows + i * w + j) + load(c.bv + j));
    for (int h = 0; h < heads; ++h) {
      float *const of_head = memory + h * numbers, *const z = memory + heads * numbers + h * f;
      if (c.vectors == nullptr) {
        map(a + h * dh * kTile);
      } else {
        const float most = key_exponents(a + h * dh * kTile, h);
        float& scale = scales(memory)[h];
        if (most > scale) {
          const V less = exponential(all(scale - most));
          for (int i = 0; i < numbers; i += kLanes) store(of_head + i, load(of_head + i) * less);
          for (int i = 0; i < f; i += kLanes) store(z + i, load(z + i) * less);
          scale = most;
        }
        raise(scale);
      }
      for (int i = 0; i < f * kTile; i += kLanes) store(features + i, weighed(load(features + i), i % kTile));
      c.product(f, dh, kTile, features, kTile, rows + h * dh, w, of_head, dh, true);
      add_row_sums(features, f, nullptr, z);
    }
  }

  /// For head h of the queries in `a`: computes `features`, the values read (in `b`), and `inverse`, 1 over the sum of weights.
  /// inverse is NaN for an infinite sum, and 0 if nothing is read.
  void read(int h, const float* memory) const {
    query_features(a + h * dh * kTile, h);
    float* const o = b + h * dh * kTile;
    c.product(dh, kTile, f, memory_t + h * numbers, f, features, kTile, o, kTile, false);
    const float* const z = memory + heads * numbers + h * f;
    for (int t = 0; t < kTile; t += kLanes) {
      V weight{};
      for (int i = 0; i < f; ++i) weight += load(features + i * kTile + t) * z[i];
      const auto nothing = weight <= kLeastSum;
      const V one_over = nothing ? V{} : (1.F + (weight - weight)) / weight;
      store(inverse + t, one_over);
      for (int i = 0; i < dh; ++i) {
        float* const x = o + i * kTile + t;
        store(x, nothing ? V{} : load(x) * one_over);
      }
    }
  }

  // Queries of sequence `i` that read: their range, tiles and rows.
  std::int64_t first(std::int64_t i) const { return c.rows != nullptr ? c.starts[i] : 0; }
  std::int64_t end(std::int64_t i) const { return c.rows != nullptr ? c.starts[i + 1] : c.n; }
  const float* tile(const float* from, std::int64_t begin, std::int64_t tokens, float* to) const {
    if (c.rows != nullptr) return chosen_tile(from, c.rows + begin, tokens, d, to);
    return whole_tile(from + begin * d, tokens, d, to);
  }
  std::int64_t row(std::int64_t i) const { return c.rows != nullptr ? c.rows[i] : i; }
  /// Sets `factor` for a tile of queries. `factors` belong to the sequence; null: 1 each.
  void take_factors(const float* factors, std::int64_t begin, std::int64_t tokens) const {
    for (int i = 0; i < kTile; ++i) factor[i] = factors != nullptr && i < tokens ? factors[row(begin + i)] : 1.F;
  }
};

}  // namespace
}  // namespace ablate::kernels::cpu
