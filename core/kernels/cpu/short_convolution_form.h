// Short convolution, token by token over all channels. The backward pass computes the sums again, last token first. A ring
// buffer has the gradients of the sums that contain the current token: as many rows as the filter has tokens.
#pragma once

#include "core/kernels/cpu/short_convolution.h"
#include "core/kernels/cpu/tiles.h"

namespace ablate::kernels::cpu {
namespace {

struct Convolved {
  const ShortConvolutionCall& c;
  Scratch s;
  float *nothing = s.take(c.channels), *ring = s.take(c.length * static_cast<std::int64_t>(c.channels));
  float* tile = s.take((c.length + 1) * static_cast<std::int64_t>(c.channels));  ///< weights' gradients from a tile of tokens
  const float* rows[kLongestFilter];                                             ///< tokens under the filter

  Convolved(const ShortConvolutionCall& call, float* scratch) : c(call), s{scratch} { set_zero(nothing, c.channels); }

  void stand_over(std::int64_t b, std::int64_t token) {
    for (int t = 0; t < c.length; ++t) {
      const auto at = token - c.length + 1 + t;
      rows[t] = at >= 0 ? c.x.at(b, 0, at) : c.before.data != nullptr ? c.before.at(b, 0, at + c.length - 1) : nothing;
    }
  }

  V sum_at(int channel) const {
    V total = c.bias != nullptr ? load(c.bias + channel) : V{};
    for (int t = 0; t < c.length; ++t) total += load(rows[t] + channel) * load(c.filter + t * c.channels + channel);
    return total;
  }

  /// Returns the row of the ring for a token's sum. `token` is at least -length.
  float* sum_gradient(std::int64_t token) const { return ring + (token + c.length) % c.length * c.channels; }

  /// Writes the gradient of the token's sum to the ring, and adds gradients of weights to the tile's gradients.
  void add_gradients(std::int64_t token, const float* dy) const {
    float* const of_sum = sum_gradient(token);
    for (int j = 0; j < c.channels; j += kLanes) {
      const V x = sum_at(j), share = sigmoid(x), of = load(dy + j) * share * (x * (1.f - share) + 1.f);
      store(of_sum + j, of);
      for (int t = 0; t < c.length; ++t) {
        float* const weight = tile + t * c.channels + j;
        store(weight, load(weight) + of * load(rows[t] + j));
      }
      float* const bias = tile + c.length * c.channels + j;
      store(bias, load(bias) + of);
    }
  }

  /// Computes the gradient of a token, or of a token before the first, from all sums that contain it.
  void token_gradient(std::int64_t token, float* to) const {
    const float* of[kLongestFilter];
    for (int later = 0; later < c.length; ++later) of[later] = sum_gradient(token + later);
    for (int j = 0; j < c.channels; j += kLanes) {
      V total{};
      for (int later = 0; later < c.length; ++later)
        total += load(of[later] + j) * load(c.filter + (c.length - 1 - later) * c.channels + j);
      store(to + j, total);
    }
  }
};

void short_convolution(const ShortConvolutionCall& c, float* scratch, const Heads<float>& out) {
  Convolved t(c, scratch);
  for (std::int64_t b = 0; b < c.batch; ++b)
    for (std::int64_t i = 0; i < c.tokens; ++i) {
      t.stand_over(b, i);
      float* const to = out.at(b, 0, i);
      for (int j = 0; j < c.channels; j += kLanes) {
        const V x = t.sum_at(j);
        store(to + j, x * sigmoid(x));
      }
    }
}

void short_convolution_backward(const ShortConvolutionCall& c, float* scratch, const Heads<const float>& d_out,
                                const ShortConvolutionGradients& g) {
  Convolved t(c, scratch);
  const auto weights = (c.length + 1) * static_cast<std::int64_t>(c.channels);
  for (std::int64_t b = 0; b < c.batch; ++b) {
    float* const total = g.weights + b * weights;
    set_zero(total, weights), set_zero(t.tile, weights), set_zero(t.ring, weights - c.channels);
    for (std::int64_t i = c.tokens - 1; i >= 0; --i) {
      t.stand_over(b, i);
      t.add_gradients(i, d_out.at(b, 0, i));
      t.token_gradient(i, g.x.at(b, 0, i));
      if (i % kTile != 0) continue;
      // The tokens of a tile are summed separately for fewer roundings.
      add_to(total, t.tile, weights), set_zero(t.tile, weights);
    }
    for (std::int64_t i = -1; g.before.data != nullptr && i > -c.length; --i) {
      set_zero(t.sum_gradient(i), c.channels);
      t.token_gradient(i, g.before.at(b, 0, i + c.length - 1));
    }
  }
}

}  // namespace
}  // namespace ablate::kernels::cpu
