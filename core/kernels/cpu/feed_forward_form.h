// x + noise (W2 inner_noise act(W1 norm(x) + b1) + b2), forward and backward, tile by tile. The forward pass saves only x. The
// backward pass computes the inner numbers again, with 7 products instead of 6, so it needs no memory for them. The norm's
// gamma and beta are folded into W1 and b1 (d h operations), so a tile has only normalised rows. Compiled for each ABLATE_FORM.
#pragma once

#include "core/kernels/cpu/feed_forward.h"
#include "core/kernels/cpu/tiles.h"

namespace ablate::kernels::cpu {
namespace {

/// Computes W1 diag(gamma), and b1 + W1 beta.
void fold_norm(const FeedForwardCall& c, float* w1, float* b1) {
  for (int i = 0; i < c.h; ++i) {
    V s{};
    for (int j = 0; j < c.d; j += kLanes) {
      const V w = load(c.w1 + i * c.d + j);
      store(w1 + i * c.d + j, w * load(c.gamma + j));
      s += w * load(c.beta + j);
    }
    b1[i] = c.b1[i] + sum(s);
  }
}

/// Computes the gradients of W1, gamma and beta from the gradients of b1 and of the folded W1 (transposed, [d, h]).
void unfold_norm(const FeedForwardCall& c, const float* folded, const FeedForwardGradients& g) {
  transpose(c.d, c.h, folded, c.h, g.w1, c.d);
  set_zero(g.gamma, c.d), set_zero(g.beta, c.d);
  for (int i = 0; i < c.h; ++i) {
    const float b = g.b1[i];
    for (int j = 0; j < c.d; j += kLanes) {
      const V by = load(g.w1 + i * c.d + j), w = load(c.w1 + i * c.d + j);
      store(g.gamma + j, load(g.gamma + j) + by * w);
      store(g.beta + j, load(g.beta + j) + b * w);
      store(g.w1 + i * c.d + j, by * load(c.gamma + j) + b * load(c.beta + j));
    }
  }
}

ABLATE_INLINE V active(bool relu, V u, V* slope) {
  if (!relu) return gelu(u, slope);
  if (slope) *slope = u <= 0.f ? V{} : all(1.f);  // NaN stays NaN, with slope 1, as in torch
  return u <= 0.f ? V{} : u;
}

// Sizes are arguments, so that common sizes become constants.
ABLATE_INLINE void forward_of(const FeedForwardCall& c, int d, int h, float* scratch, float* y) {
  Scratch s{scratch};
  float *folded = s.take(d * h), *b1 = s.take(h), *w1t = s.take(d * h), *w2t = s.take(d * h);
  float *normed = s.take(kTile * d), *out = s.take(kTile * d), *hidden = s.take(kTile * h), *padded = s.take(kTile * d);
  fold_norm(c, folded, b1);
  transpose(h, d, folded, d, w1t, h);
  transpose(d, h, c.w2, h, w2t, d);
  for (std::int64_t begin = 0; begin < c.tokens; begin += kTile) {
    const auto tokens = c.tokens - begin < kTile ? c.tokens - begin : kTile;
    const float* x = whole_tile(c.x + begin * d, tokens, d, padded);
    for (int i = 0; i < kTile; ++i) {
      const auto norm = statistics(x + i * d, d);
      for (int j = 0; j < d; j += kLanes) store(normed + i * d + j, (load(x + i * d + j) - norm.mean) * norm.scale);
    }
    c.product(kTile, h, d, normed, d, w1t, h, hidden, h, false);
    for (int i = 0; i < kTile; ++i)
      for (int j = 0; j < h; j += kLanes)
        store(hidden + i * h + j, active(c.relu, load(hidden + i * h + j) + load(b1 + j), nullptr));
    if (c.inner_noise)
      for (std::int64_t i = 0; i < tokens * h; i += kLanes)
        store(hidden + i, load(hidden + i) * load(c.inner_noise + begin * h + i));
    c.product(kTile, d, h, hidden, h, w2t, d, out, d, false);
    for (int i = 0; i < tokens; ++i)
      for (int j = 0; j < d; j += kLanes) {
        const auto at = (begin + i) * d + j;
        V added = load(out + i * d + j) + load(c.b2 + j);
        if (c.noise) added *= load(c.noise + at);
        store(y + at, load(x + i * d + j) + added);
      }
  }
}

ABLATE_INLINE void backward_of(const FeedForwardCall& c, int d, int h, float* scratch, const float* dy, float* dx,
                               const FeedForwardGradients& g) {
  Scratch s{scratch};
  float *w1 = s.take(d * h), *b1 = s.take(h), *w1t = s.take(d * h), *dw1t = s.take(d * h);
  float *normed = s.take(kTile * d), *transposed = s.take(kTile * d), *dn = s.take(kTile * d);
  float *hidden = s.take(kTile * h), *du = s.take(kTile * h), *padded_x = s.take(kTile * d), *padded_dy = s.take(kTile * d);
  float *tile_b1 = s.take(h), *tile_b2 = s.take(d), *dout = s.take(kTile * d);
  Statistics norms[kTile];
  fold_norm(c, w1, b1);
  transpose(h, d, w1, d, w1t, h);
  set_zero(dw1t, d * h), set_zero(g.w2, d * h), set_zero(g.b1, h), set_zero(g.b2, d);
  for (std::int64_t begin = 0; begin < c.tokens; begin += kTile) {
    const auto tokens = c.tokens - begin < kTile ? c.tokens - begin : kTile;
    const float* x = whole_tile(c.x + begin * d, tokens, d, padded_x);
    const float* of_y = whole_tile(dy + begin * d, tokens, d, padded_dy);
    const float* of_out = of_y;  // gradient of what `noise` multiplies: W2's result plus b2
    if (c.noise) {
      for (std::int64_t i = 0; i < kTile * d; i += kLanes)
        store(dout + i, i < tokens * d ? load(of_y + i) * load(c.noise + begin * d + i) : V{});
      of_out = dout;
    }
    set_zero(tile_b1, h), set_zero(tile_b2, d);  // summed tile by tile for fewer roundings
    for (int i = 0; i < kTile; ++i) {
      norms[i] = statistics(x + i * d, d);
      for (int j = 0; j < d; j += kLanes) {
        store(normed + i * d + j, (load(x + i * d + j) - norms[i].mean) * norms[i].scale);
        store(tile_b2 + j, load(tile_b2 + j) + load(of_out + i * d + j));
      }
    }
    c.product(kTile, h, d, normed, d, w1t, h, hidden, h, false);
    c.product(kTile, h, d, of_out, d, c.w2, h, du, h, false);
    for (int i = 0; i < kTile; ++i)
      for (int j = 0; j < h; j += kLanes) {
        V slope, value = active(c.relu, load(hidden + i * h + j) + load(b1 + j), &slope), by = load(du + i * h + j) * slope;
        if (c.inner_noise) {
          const V kept = i < tokens ? load(c.inner_noise + (begin + i) * h + j) : V{};
          value *= kept, by *= kept;
        }
        store(hidden + i * h + j, value), store(du + i * h + j, by);
        store(tile_b1 + j, load(tile_b1 + j) + by);
      }
    add_to(g.b1, tile_b1, h), add_to(g.b2, tile_b2, d);
    transpose(kTile, d, of_out, d, transposed, kTile);
    c.product(d, h, kTile, transposed, kTile, hidden, h, g.w2, h, true);
    transpose(kTile, d, normed, d, transposed, kTile);
    c.product(d, h, kTile, transposed, kTile, du, h, dw1t, h, true);
    c.product(kTile, d, h, du, h, w1, d, dn, d, false);
    for (int i = 0; i < kTile; ++i) {  // through the norm; `dn` is the gradient of the normalised row
      V a{}, b{};
      for (int j = 0; j < d; j += kLanes) {
        const V by = load(dn + i * d + j);
        a += by, b += by * load(normed + i * d + j);
      }
      const float mean = sum(a) / static_cast<float>(d), slope = sum(b) / static_cast<float>(d);
      for (int j = 0; j < d; j += kLanes)
        store(dn + i * d + j,
              load(of_y + i * d + j) + norms[i].scale * (load(dn + i * d + j) - mean - load(normed + i * d + j) * slope));
    }
    copy_rows(dn, tokens, d, dx + begin * d);
  }
  unfold_norm(c, dw1t, g);
}

void feed_forward(const FeedForwardCall& call, float* scratch, float* y) {
  if (call.d == 64 && call.h == 128) return forward_of(call, 64, 128, scratch, y);
  forward_of(call, call.d, call.h, scratch, y);
}

void feed_forward_backward(const FeedForwardCall& call, float* scratch, const float* dy, float* dx,
                           const FeedForwardGradients& gradients) {
  if (call.d == 64 && call.h == 128) return backward_of(call, 64, 128, scratch, dy, dx, gradients);
  backward_of(call, call.d, call.h, scratch, dy, dx, gradients);
}

}  // namespace

}  // namespace ablate::kernels::cpu
