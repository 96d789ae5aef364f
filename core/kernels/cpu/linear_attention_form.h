// y_i = Wo o_i + bo, of each head o_i = q_i S / (q_i z), S = sum_j m_j k_j v_j^T, z = sum_j m_j k_j, q = phi(Wq x + bq), k and
// v likewise of the context, m the mass. Of the forward pass S and z are kept, [d_head, d_head] and [d_head] a head; the rest
// is computed again.
#pragma once

#include "core/kernels/cpu/linear_attention.h"
#include "core/kernels/cpu/tiles.h"

namespace ablate::kernels::cpu {
namespace {

/// Sums of weights up to it are 0: the query reads 0, and nothing flows back. Its square, which gradients hold, is still a
/// number.
constexpr float kLeastSum = 1.0842022e-19F;

// Of NaN both are what the reference has: phi is NaN, and so is its slope, but for relu's, which is 1.
ABLATE_INLINE V phi(bool relu, V x) {
  if (relu) return x <= 0.F ? V{} : x;
  return x > 0.F ? x + 1.F : exponential(x > 0.F ? V{} : x);
}
/// phi' by phi.
ABLATE_INLINE V phi_slope(bool relu, V value) {
  if (relu) return value <= 0.F ? V{} : all(1.F);
  return value > 1.F ? all(1.F) : value;
}

struct LinearAttentionWeights {
  float *q, *k, *v, *o;  ///< transposed: [d, width], and [width, d] of o
};

/// One call's sizes, as constants where they are usual, and its scratch.
struct LinearAttentionTiles {
  const LinearAttentionCall& c;
  int d, heads, dh, w;
  Scratch s;
  float *q = s.take(kTile * w), *k = s.take(kTile * w), *v = s.take(kTile * w), *o = s.take(kTile * w);
  float *by = s.take(kTile * w), *of = s.take(kTile * w), *transposed = s.take(kTile * (w > d ? w : d));
  float *padded = s.take(kTile * d), *padded_dy = s.take(kTile * d), *tokens_out = s.take(kTile * d);
  float *inverse = s.take(kTile * heads), *sums = s.take(kTile * heads), *row = s.take(w > d ? w : d);
  float* by_memory = s.take(w * (dh + 1));
  float* memory_t = s.take(w * dh);

  /// tile [kTile, w] = tokens W^T + b, through phi where it is asked for.
  ABLATE_INLINE_MEMBER void project(const float* tokens, const float* weight_t, const float* bias, bool through_phi,
                                    float* tile) {
    c.product(kTile, w, d, tokens, d, weight_t, w, tile, w, false);
    for (int i = 0; i < kTile; ++i)
      for (int j = 0; j < w; j += kLanes) {
        const V x = load(tile + i * w + j) + load(bias + j);
        store(tile + i * w + j, through_phi ? phi(c.relu, x) : x);
      }
  }

  /// What each key of a tile counts; 0 behind the last. @param mass of the sequence, or null
  static float mass_of(const float* mass, std::int64_t key, std::int64_t m) {
    if (key >= m) return 0;
    return mass != nullptr ? mass[key] : 1;
  }

  /// k = phi, times the mass where `weighted`, and v, of a tile of the context.
  ABLATE_INLINE_MEMBER void keys_and_values(const float* tokens, const LinearAttentionWeights& weights) {
    project(tokens, weights.k, c.bk, true, k);
    project(tokens, weights.v, c.bv, false, v);
  }
  ABLATE_INLINE_MEMBER void weigh(float* tile, const float* mass, std::int64_t begin) const {
    for (int i = 0; i < kTile; ++i) {
      const float counts = mass_of(mass, begin + i, c.m);
      if (counts == 1) continue;
      for (int j = 0; j < w; j += kLanes) {
        const V x = load(tile + i * w + j);
        store(tile + i * w + j, counts == 0 ? V{} : x * counts);
      }
    }
  }

  /// by[., head] (+)= tile[., head] B of each head, B [dh, dh].
  ABLATE_INLINE_MEMBER void by_heads(const float* tile, const float* matrices, float* to) const {
    for (int h = 0; h < heads; ++h)
      c.product(kTile, dh, dh, tile + h * dh, w, matrices + h * dh * dh, dh, to + h * dh, w, false);
  }
  /// to += tile^T other, head by head; `transposed` is overwritten.
  ABLATE_INLINE_MEMBER void add_outer(const float* tile, const float* other, float* to) {
    transpose(kTile, w, tile, w, transposed, kTile);
    for (int h = 0; h < heads; ++h)
      c.product(dh, dh, kTile, transposed + h * dh * kTile, kTile, other + h * dh, w, to + h * dh * dh, dh, true);
  }
  /// weight [w, columns] += tile^T tokens.
  ABLATE_INLINE_MEMBER void add_weight(const float* tile, int rows, const float* tokens, int columns, float* weight) {
    transpose(kTile, rows, tile, rows, transposed, kTile);
    c.product(rows, columns, kTile, transposed, kTile, tokens, columns, weight, columns, true);
  }

  /// q and o of a tile of queries, and `inverse` [kTile, heads], one over the sum of weights: NaN of an infinite one, -1 of
  /// nothing.
  ABLATE_INLINE_MEMBER void read(const float* tokens, const LinearAttentionWeights& weights, const float* memory) {
    project(tokens, weights.q, c.bq, true, q);
    by_heads(q, memory, o);
    const float* z = memory + w * dh;
    for (int i = 0; i < kTile; ++i)
      for (int h = 0; h < heads; ++h) {
        V total{};
        for (int j = h * dh; j < (h + 1) * dh; j += kLanes) total += load(q + i * w + j) * load(z + j);
        const float weight = sum(total), one_over = (1 + (weight - weight)) / weight;
        const bool nothing = weight <= kLeastSum;
        inverse[i * heads + h] = nothing ? -1 : one_over;
        for (int j = h * dh; j < (h + 1) * dh; j += kLanes)
          store(o + i * w + j, nothing ? V{} : load(o + i * w + j) * one_over);
      }
  }
};

ABLATE_INLINE void linear_attention_of(const LinearAttentionCall& c, int d, int heads, int dh, float* scratch, float* y,
                                       float* memories) {
  const int w = heads * dh;
  Scratch s{scratch};
  const LinearAttentionWeights weights{s.take(d * w), s.take(d * w), s.take(d * w), s.take(d * w)};
  transpose(w, d, c.wq, d, weights.q, w), transpose(w, d, c.wk, d, weights.k, w), transpose(w, d, c.wv, d, weights.v, w);
  transpose(d, w, c.wo, w, weights.o, d);
  LinearAttentionTiles t{c, d, heads, dh, w, s};
  for (std::int64_t b = 0; b < c.batch; ++b) {
    const float *x = c.x + b * c.n * d, *context = c.context + b * c.m * d, *mass = c.mass ? c.mass + b * c.m : nullptr;
    float* memory = memories + b * c.memory();
    set_zero(memory, c.memory());
    for (std::int64_t begin = 0; begin < c.m; begin += kTile) {
      t.keys_and_values(whole_tile(context + begin * d, c.m - begin, d, t.padded), weights);
      t.weigh(t.k, mass, begin);
      t.add_outer(t.k, t.v, memory);
      add_rows(t.k, w, t.row, memory + w * dh);
    }
    for (std::int64_t begin = 0; begin < c.n; begin += kTile) {
      const auto tokens = c.n - begin < kTile ? c.n - begin : kTile;
      t.read(whole_tile(x + begin * d, tokens, d, t.padded), weights, memory);
      c.product(kTile, d, w, t.o, w, weights.o, d, t.tokens_out, d, false);
      for (int i = 0; i < tokens; ++i)
        for (int j = 0; j < d; j += kLanes)
          store(y + (b * c.n + begin + i) * d + j, load(t.tokens_out + i * d + j) + load(c.bo + j));
    }
  }
}

ABLATE_INLINE void linear_attention_backward_of(const LinearAttentionCall& c, int d, int heads, int dh, float* scratch,
                                                const float* memories, const float* dy, const LinearAttentionGradients& g) {
  const int w = heads * dh;
  Scratch s{scratch};
  const LinearAttentionWeights weights{s.take(d * w), s.take(d * w), s.take(d * w), s.take(d * w)};
  transpose(w, d, c.wq, d, weights.q, w), transpose(w, d, c.wk, d, weights.k, w), transpose(w, d, c.wv, d, weights.v, w);
  LinearAttentionTiles t{c, d, heads, dh, w, s};
  for (std::int64_t b = 0; b < c.batch; ++b) {
    const float *x = c.x + b * c.n * d, *context = c.context + b * c.m * d, *mass = c.mass ? c.mass + b * c.m : nullptr;
    const float *memory = memories + b * c.memory(), *z = memory + w * dh;
    float *by_z = t.by_memory + w * dh, *dx = g.x + b * c.n * d, *dcontext = g.context ? g.context + b * c.m * d : dx;
    set_zero(t.by_memory, c.memory());
    for (int h = 0; h < heads; ++h) transpose(dh, dh, memory + h * dh * dh, dh, t.memory_t + h * dh * dh, dh);
    for (std::int64_t begin = 0; begin < c.n; begin += kTile) {
      const auto tokens = c.n - begin < kTile ? c.n - begin : kTile;
      const float* queries = whole_tile(x + begin * d, tokens, d, t.padded);
      const float* of_y = whole_tile(dy + (b * c.n + begin) * d, tokens, d, t.padded_dy);
      t.read(queries, weights, memory);
      t.add_weight(of_y, d, t.o, w, g.wo);
      add_rows(of_y, d, t.row, g.bo);
      c.product(kTile, w, d, of_y, d, c.wo, w, t.by, w, false);  // of o
      for (int i = 0; i < kTile; ++i)
        for (int h = 0; h < heads; ++h) {
          V total{};
          const float one_over = t.inverse[i * heads + h];
          for (int j = h * dh; j < (h + 1) * dh; j += kLanes) {
            const V numerator = one_over < 0 ? V{} : load(t.by + i * w + j) * one_over;
            store(t.by + i * w + j, numerator);
            total += numerator * load(t.o + i * w + j);
          }
          t.sums[i * heads + h] = -sum(total);  // of the sum of weights
        }
      t.add_outer(t.q, t.by, t.by_memory);
      t.by_heads(t.by, t.memory_t, t.of);
      for (int i = 0; i < kTile; ++i)
        for (int h = 0; h < heads; ++h)
          for (int j = h * dh; j < (h + 1) * dh; j += kLanes) {
            const V value = load(t.q + i * w + j);
            const float of_sum = t.sums[i * heads + h];
            store(by_z + j, load(by_z + j) + value * of_sum);
            store(t.of + i * w + j, (load(t.of + i * w + j) + load(z + j) * of_sum) * phi_slope(c.relu, value));
          }
      t.add_weight(t.of, w, queries, d, g.wq);
      add_rows(t.of, w, t.row, g.bq);
      c.product(kTile, d, w, t.of, w, c.wq, d, t.tokens_out, d, false);
      copy_rows(t.tokens_out, tokens, d, dx + begin * d);
    }
    for (int h = 0; h < heads; ++h) transpose(dh, dh, t.by_memory + h * dh * dh, dh, t.memory_t + h * dh * dh, dh);
    for (std::int64_t begin = 0; begin < c.m; begin += kTile) {
      const auto tokens = c.m - begin < kTile ? c.m - begin : kTile;
      const float* keys = whole_tile(context + begin * d, tokens, d, t.padded);
      t.keys_and_values(keys, weights);
      t.by_heads(t.v, t.memory_t, t.by);  // of k
      for (int i = 0; i < kTile; ++i)
        for (int j = 0; j < w; j += kLanes)
          store(t.by + i * w + j, (load(t.by + i * w + j) + load(by_z + j)) * phi_slope(c.relu, load(t.k + i * w + j)));
      t.weigh(t.by, mass, begin);
      t.weigh(t.k, mass, begin);
      t.by_heads(t.k, t.by_memory, t.of);  // of v
      t.add_weight(t.by, w, keys, d, g.wk);
      add_rows(t.by, w, t.row, g.bk);
      t.add_weight(t.of, w, keys, d, g.wv);
      add_rows(t.of, w, t.row, g.bv);
      c.product(kTile, d, w, t.by, w, c.wk, d, t.tokens_out, d, false);
      c.product(kTile, d, w, t.of, w, c.wv, d, t.tokens_out, d, true);
      if (g.context == nullptr)
        add_to(dcontext + begin * d, t.tokens_out, tokens * d);
      else
        copy_rows(t.tokens_out, tokens, d, dcontext + begin * d);
    }
  }
}

void linear_attention(const LinearAttentionCall& c, float* scratch, float* y, float* memory) {
  if (c.d == 64 && c.heads == 2 && c.d_head == 32) return linear_attention_of(c, 64, 2, 32, scratch, y, memory);
  linear_attention_of(c, c.d, c.heads, c.d_head, scratch, y, memory);
}

void linear_attention_backward(const LinearAttentionCall& c, float* scratch, const float* memory, const float* dy,
                               const LinearAttentionGradients& g) {
  if (c.d == 64 && c.heads == 2 && c.d_head == 32) return linear_attention_backward_of(c, 64, 2, 32, scratch, memory, dy, g);
  linear_attention_backward_of(c, c.d, c.heads, c.d_head, scratch, memory, dy, g);
}

}  // namespace
}  // namespace ablate::kernels::cpu
