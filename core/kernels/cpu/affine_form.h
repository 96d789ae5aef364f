// x W^T + b, tile by tile. Whole tiles are multiplied in place, without a copy.
#pragma once

#include "core/kernels/cpu/affine.h"
#include "core/kernels/cpu/tiles.h"

namespace ablate::kernels::cpu {
namespace {

void affine(const AffineCall& c, float* scratch, float* y) {
  Scratch s{scratch};
  float *weight_t = s.take(c.in * c.out), *padded = s.take(kTile * c.in), *rest = s.take(kTile * c.out);
  transpose(c.out, c.in, c.weight, c.in, weight_t, c.out);
  for (std::int64_t begin = 0; begin < c.tokens; begin += kTile) {
    const auto tokens = c.tokens - begin < kTile ? c.tokens - begin : kTile;
    float* const to = y + begin * c.out;
    float* const tile = tokens < kTile ? rest : to;
    c.product(kTile, c.out, c.in, whole_tile(c.x + begin * c.in, tokens, c.in, padded), c.in, weight_t, c.out, tile, c.out,
              false);
    for (std::int64_t i = 0; i < tokens; ++i)
      for (int j = 0; j < c.out; j += kLanes)
        store(to + i * c.out + j, load(tile + i * c.out + j) + (c.bias != nullptr ? load(c.bias + j) : V{}));
  }
}

void affine_backward(const AffineCall& c, float* scratch, const float* dy, const AffineGradients& g) {
  Scratch s{scratch};
  float *padded_x = s.take(kTile * c.in), *padded_dy = s.take(kTile * c.out), *turned = s.take(c.out * kTile);
  float *rest = s.take(kTile * c.in), *sum = s.take(c.out);
  set_zero(g.weight, static_cast<std::int64_t>(c.in) * c.out);
  if (g.bias != nullptr) set_zero(g.bias, c.out);
  for (std::int64_t begin = 0; begin < c.tokens; begin += kTile) {
    const auto tokens = c.tokens - begin < kTile ? c.tokens - begin : kTile;
    const float* const of_y = whole_tile(dy + begin * c.out, tokens, c.out, padded_dy);
    transpose(kTile, c.out, of_y, c.out, turned, kTile);
    c.product(c.out, c.in, kTile, turned, kTile, whole_tile(c.x + begin * c.in, tokens, c.in, padded_x), c.in, g.weight, c.in,
              true);
    if (g.bias != nullptr) add_rows(of_y, c.out, sum, g.bias);
    if (g.x == nullptr) continue;
    float* const to = g.x + begin * c.in;
    c.product(kTile, c.in, c.out, of_y, c.out, c.weight, c.in, tokens < kTile ? rest : to, c.in, false);
    if (tokens < kTile) copy_rows(rest, tokens, c.in, to);
  }
}

}  // namespace
}  // namespace ablate::kernels::cpu
