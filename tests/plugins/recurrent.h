// Common functions of tests of recurrent attentions: plain heads, norms and gates, and segments with their states.
#pragma once

#include "tests/plugins/attention.h"

namespace ablate::test {

/// Returns one item's channels by heads: [n, heads, d].
inline Tensor by_heads(const Tensor& x, std::int64_t heads) { return x.unflatten(-1, {heads, -1}); }

/// Returns (x - mean) / sqrt(variance + 1e-5) over the last dimension. Unless `centred`, the mean counts as 0.
inline Tensor plainly_normed(const Tensor& x, bool centred) {
  const auto y = centred ? x - x.mean(-1, true) : x;
  return y / (y.square().mean(-1, true) + 1e-5).sqrt();
}

inline Tensor swish(const Tensor& x) { return x / (1 + (-x).exp()); }

/// Returns sum_t filter_t y_(i - tokens + 1 + t) for each token i of one item; y is 0 before the first token.
/// @param y projected tokens [n, channels]
/// @param filter [channels, tokens]
inline Tensor filtered(const Tensor& y, const Tensor& filter) {
  const auto tokens = filter.size(1);
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < y.size(0); ++i) {
    auto sum = zeros({y.size(1)}, kDouble);
    for (std::int64_t t = 0; t < tokens; ++t)
      if (i - tokens + 1 + t >= 0) sum = sum + filter.select(1, t) * y[i - tokens + 1 + t];
    rows.push_back(sum);
  }
  return stack(rows);
}

/// Applies a short convolution, with its activation.
inline Tensor convolved(const Tensor& y, const Tensor& filter) { return swish(filtered(y, filter)); }

/// Returns the outputs of segments of these lengths. Each segment gets its own position and the state of the segment before it.
inline Tensor by_segments(Attention& attention, const Tensor& x, const std::vector<std::int64_t>& lengths) {
  auto state = attention.initial_state(x.size(0));
  std::vector<Tensor> outputs;
  std::int64_t at = 0;
  for (const auto length : lengths) {
    const auto part = x.narrow(1, at, length);
    auto result = attention.forward({.queries = part,
                                     .context = part,
                                     .position = full({x.size(0)}, at, kLong),
                                     .state = std::move(state),
                                     .generator = make_generator(1)});
    outputs.push_back(result.output);
    state = std::move(result.state);
    at += length;
  }
  return cat(outputs, 1);
}

/// Computes linear attention without normaliser and feature map: o_i = sum over j up to i of (q_i k_j) v_j / sqrt(d), and its
/// output projection.
/// @param x [n, d_model]
inline Tensor unnormalised_linear(const Attention& attention, std::int64_t heads, const Tensor& x) {
  const auto q = by_heads(layer(attention, "query", x), heads), k = by_heads(layer(attention, "key", x), heads),
             v = by_heads(layer(attention, "value", x), heads);
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    std::vector<Tensor> parts;
    for (std::int64_t h = 0; h < heads; ++h) {
      auto sum = zeros({v.size(2)}, kDouble);
      for (std::int64_t j = 0; j <= i; ++j) sum = sum + q[i][h].dot(k[j][h]) * v[j][h];
      parts.push_back(sum / std::sqrt(static_cast<double>(q.size(2))));
    }
    rows.push_back(cat(parts));
  }
  return layer(attention, "output", stack(rows));
}

}  // namespace ablate::test
