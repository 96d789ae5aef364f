// y_i = r_i Wo o_i + bo. For each head o_i = q_i S / (q_i z), S = sum_j m_j k_j v_j^T, z = sum_j m_j k_j. q is phi(Wq x + bq).
// For context c, k is phi(Wk c + bk) and v is Wv c + bv. m is the mass and r the factors. The forward pass saves S and z,
// [features, d_head] and [features] a head. The backward pass computes the rest again.
#pragma once

#include "core/kernels/cpu/linear_attention_tiles.h"

namespace ablate::kernels::cpu {
namespace {

void linear_attention(const LinearAttentionCall& c, float* scratch, float* y, float* memories) {
  LinearAttentionTiles t(c, scratch);
  const int d = t.d, w = t.w;
  for (std::int64_t b = 0; b < c.batch; ++b) {
    const float *x = c.x + b * c.n * d, *context = c.context + b * c.m * d, *mass = c.mass ? c.mass + b * c.m : nullptr;
    const float* factors = c.factors ? c.factors + b * c.n : nullptr;
    float* memory = memories + b * c.memory();
    set_zero(memory, c.memory());
    for (int h = 0; c.vectors != nullptr && h < t.heads; ++h) t.scales(memory)[h] = -__builtin_inff();
    for (std::int64_t begin = 0; begin < c.m; begin += kTile) {
      t.count(mass, begin);
      t.write(whole_tile(context + begin * d, c.m - begin, d, t.padded), memory);
    }
    t.turn(memory);
    for (std::int64_t begin = t.first(b); begin < t.end(b); begin += kTile) {
      const auto tokens = t.end(b) - begin < kTile ? t.end(b) - begin : kTile;
      transpose(kTile, d, t.tile(x, begin, tokens, t.padded), d, t.tokens_t, kTile);
      t.project(c.wq, c.bq, t.a);
      for (int h = 0; h < t.heads; ++h) t.read(h, memory);
      if (factors != nullptr) {
        t.take_factors(factors, begin, tokens);
        for (int i = 0; i < w * kTile; i += kLanes) store(t.b + i, load(t.b + i) * load(t.factor + i % kTile));
      }
      c.product(d, kTile, w, c.wo, w, t.b, kTile, t.out_t, kTile, false);
      transpose(d, kTile, t.out_t, kTile, t.out, d);
      for (int i = 0; i < tokens; ++i)
        for (int j = 0; j < d; j += kLanes)
          store(y + (b * c.n + t.row(begin + i)) * d + j, load(t.out + i * d + j) + load(c.bo + j));
    }
  }
}

/// Computes for a tile of queries the gradients of x (in `out`), the factors, the weights of queries and outputs, S and z.
ABLATE_INLINE void backward_of_queries(LinearAttentionTiles& t, const float* queries, const float* dy, const float* memory,
                                       const LinearAttentionGradients& g) {
  const auto& c = t.c;
  const int d = t.d, w = t.w, dh = t.dh, f = t.f;
  transpose(kTile, d, queries, d, t.tokens_t, kTile);
  transpose(kTile, d, dy, d, t.dy_t, kTile);
  add_row_sums(t.dy_t, d, nullptr, g.bo);
  t.project(c.wq, c.bq, t.a);
  c.product(w, kTile, d, t.wo, d, t.dy_t, kTile, t.of_b, kTile, false);
  set_zero(t.of_factor, kTile);
  for (int h = 0; h < t.heads; ++h) {
    t.read(h, memory);
    float *const o = t.b + h * dh * kTile, *const of_o = t.of_b + h * dh * kTile, *const of_sum = t.lane;
    for (int l = 0; l < kTile; l += kLanes) {
      const V factor = load(t.factor + l), one_over = load(t.inverse + l);
      V total{}, of_factor = load(t.of_factor + l);
      for (int i = 0; i < dh; ++i) {
        const V by = load(of_o + i * kTile + l), value = load(o + i * kTile + l);
        const V numerator = one_over == 0.F ? V{} : by * factor * one_over;
        of_factor += by * value, total += numerator * value;
        store(of_o + i * kTile + l, numerator), store(o + i * kTile + l, value * factor);
      }
      store(of_sum + l, -total), store(t.of_factor + l, of_factor);
    }
    const float* const z = memory + t.heads * t.numbers + h * f;
    transpose(dh, kTile, of_o, kTile, t.rows, dh);
    c.product(f, dh, kTile, t.features, kTile, t.rows, dh, t.by_memory + h * t.numbers, dh, true);
    add_row_sums(t.features, f, of_sum, t.by_memory + t.heads * t.numbers + h * f);
    float* const of_channels = t.of_a + h * dh * kTile;
    float* const of_features = c.vectors != nullptr ? t.of_features : of_channels;
    c.product(f, kTile, dh, memory + h * t.numbers, dh, of_o, kTile, of_features, kTile, false);
    for (int i = 0; i < f; ++i)
      for (int l = i * kTile; l < (i + 1) * kTile; l += kLanes) {
        const V value = load(t.features + l), by = load(of_features + l) + load(of_sum + l % kTile) * z[i];
        store(of_features + l, by * (c.vectors != nullptr ? value : phi_slope(c.relu, value)));
      }
    if (c.vectors != nullptr)
      c.product(dh, kTile, f, t.vectors + h * t.numbers, f, of_features, kTile, of_channels, kTile, false);
  }
  transpose(w, kTile, t.b, kTile, t.rows, w);
  c.product(d, w, kTile, t.dy_t, kTile, t.rows, w, g.wo, w, true);
  c.product(w, d, kTile, t.of_a, kTile, queries, d, g.wq, d, true);
  add_row_sums(t.of_a, w, nullptr, g.bq);
  c.product(d, kTile, w, t.wq, w, t.of_a, kTile, t.out_t, kTile, false);
  transpose(d, kTile, t.out_t, kTile, t.out, d);
}

/// Computes for a tile of keys (masses in `lane`) the gradients of the context (in `out`) and the weights of keys and values.
ABLATE_INLINE void backward_of_keys(LinearAttentionTiles& t, const float* keys, const float* memory,
                                    const LinearAttentionGradients& g) {
  const auto& c = t.c;
  const int d = t.d, w = t.w, dh = t.dh, f = t.f;
  transpose(kTile, d, keys, d, t.tokens_t, kTile);
  t.project(c.wk, c.bk, t.a);
  t.project(c.wv, c.bv, t.b);
  for (int h = 0; h < t.heads; ++h) {
    const float* const channels = t.a + h * dh * kTile;
    float* const of_channels = t.of_a + h * dh * kTile;
    float* const of_features = c.vectors != nullptr ? t.of_features : of_channels;
    const float* const by_z = t.by_memory + t.heads * t.numbers + h * f;
    if (c.vectors == nullptr)
      t.map(channels);
    else
      t.key_exponents(channels, h), t.raise(t.scales(memory)[h]);
    c.product(f, kTile, dh, t.by_memory + h * t.numbers, dh, t.b + h * dh * kTile, kTile, of_features, kTile, false);
    for (int i = 0; i < f; ++i)
      for (int l = i * kTile; l < (i + 1) * kTile; l += kLanes) {
        const V value = load(t.features + l), by = load(of_features + l) + by_z[i];
        const V slope = c.vectors != nullptr ? value : phi_slope(c.relu, value);
        store(of_features + l, t.weighed(by * slope, l % kTile));
        store(t.features + l, t.weighed(value, l % kTile));
      }
    if (c.vectors != nullptr) {
      c.product(dh, kTile, f, t.vectors + h * t.numbers, f, of_features, kTile, of_channels, kTile, false);
      const float square = 1.F / __builtin_sqrtf(static_cast<float>(dh));
      for (int l = 0; l < kTile; l += kLanes) {
        V total{};
        for (int i = 0; i < f; ++i) total += load(of_features + i * kTile + l);
        for (int i = 0; i < dh; ++i) {
          float* const to = of_channels + i * kTile + l;
          store(to, load(to) - load(channels + i * kTile + l) * (total * square));
        }
      }
    }
    c.product(dh, kTile, f, t.memory_t + h * t.numbers, f, t.features, kTile, t.of_b + h * dh * kTile, kTile, false);
  }
  c.product(w, d, kTile, t.of_a, kTile, keys, d, g.wk, d, true);
  c.product(w, d, kTile, t.of_b, kTile, keys, d, g.wv, d, true);
  add_row_sums(t.of_a, w, nullptr, g.bk);
  add_row_sums(t.of_b, w, nullptr, g.bv);
  c.product(d, kTile, w, t.wk, w, t.of_a, kTile, t.out_t, kTile, false);
  c.product(d, kTile, w, t.wv, w, t.of_b, kTile, t.out_t, kTile, true);
  transpose(d, kTile, t.out_t, kTile, t.out, d);
}

void linear_attention_backward(const LinearAttentionCall& c, float* scratch, const float* memories, const float* dy,
                               const LinearAttentionGradients& g) {
  LinearAttentionTiles t(c, scratch);
  const int d = t.d;
  for (std::int64_t b = 0; b < c.batch; ++b) {
    const float *x = c.x + b * c.n * d, *context = c.context + b * c.m * d, *mass = c.mass ? c.mass + b * c.m : nullptr;
    const float *factors = c.factors ? c.factors + b * c.n : nullptr, *memory = memories + b * c.memory();
    float *dx = g.x + b * c.n * d, *dcontext = g.context ? g.context + b * c.m * d : dx;
    set_zero(t.by_memory, t.heads * (t.numbers + t.f));
    t.turn(memory);
    for (std::int64_t begin = t.first(b); begin < t.end(b); begin += kTile) {
      const auto tokens = t.end(b) - begin < kTile ? t.end(b) - begin : kTile;
      t.take_factors(factors, begin, tokens);
      backward_of_queries(t, t.tile(x, begin, tokens, t.padded), t.tile(dy + b * c.n * d, begin, tokens, t.padded_dy), memory,
                          g);
      for (int i = 0; i < tokens; ++i) {
        copy_rows(t.out + i * d, 1, d, dx + t.row(begin + i) * d);
        if (g.factors != nullptr) g.factors[b * c.n + t.row(begin + i)] = t.of_factor[i];
      }
    }
    t.turn(t.by_memory);
    for (std::int64_t begin = 0; begin < c.m; begin += kTile) {
      const auto tokens = c.m - begin < kTile ? c.m - begin : kTile;
      t.count(mass, begin);
      backward_of_keys(t, whole_tile(context + begin * d, tokens, d, t.padded), memory, g);
      if (g.context == nullptr)
        add_to(dcontext + begin * d, t.out, tokens * d);
      else
        copy_rows(t.out, tokens, d, dcontext + begin * d);
    }
  }
}

}  // namespace
}  // namespace ablate::kernels::cpu
