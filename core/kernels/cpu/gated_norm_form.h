// Norm and gate of heads' values, head by head. The backward pass computes the norm again.
#pragma once

#include "core/kernels/cpu/gated_norm.h"
#include "core/kernels/cpu/vectors.h"

namespace ablate::kernels::cpu {
namespace {

/// Returns mean and scale of a head's norm: (x - mean) scale.
ABLATE_INLINE Statistics norm_of_head(const GatedNormCall& c, const float* x) {
  if (!c.normed) return {0, 1};
  if (c.centred) return statistics(x, c.channels);
  V squares{};
  for (int j = 0; j < c.channels; j += kLanes) squares += load(x + j) * load(x + j);
  return {0, 1 / __builtin_sqrtf(sum(squares) / static_cast<float>(c.channels) + kNormEpsilon)};
}

ABLATE_INLINE void gated_head(const GatedNormCall& c, const float* x, const float* gate, float* out) {
  const auto by = norm_of_head(c, x);
  for (int j = 0; j < c.channels; j += kLanes) {
    V y = (load(x + j) - by.mean) * by.scale;
    if (gate != nullptr) {
      const V g = load(gate + j);
      y *= g * sigmoid(g);
    }
    store(out + j, y);
  }
}

ABLATE_INLINE void gated_head_backward(const GatedNormCall& c, const float* x, const float* gate, const float* d_out, float* dx,
                                       float* d_gate) {
  const auto by = norm_of_head(c, x);
  V total{}, products{};
  for (int j = 0; j < c.channels; j += kLanes) {
    const V normed = (load(x + j) - by.mean) * by.scale;
    V of_normed = load(d_out + j);
    if (gate != nullptr) {
      const V g = load(gate + j), share = sigmoid(g);
      store(d_gate + j, of_normed * normed * share * (g * (1.f - share) + 1.f));
      of_normed *= g * share;
    }
    store(dx + j, of_normed);
    total += of_normed, products += of_normed * normed;
  }
  if (!c.normed) return;
  const auto channels = static_cast<float>(c.channels);
  const float mean = c.centred ? sum(total) / channels : 0, along = sum(products) / channels;
  for (int j = 0; j < c.channels; j += kLanes) {
    const V normed = (load(x + j) - by.mean) * by.scale;
    store(dx + j, (load(dx + j) - mean - normed * along) * by.scale);
  }
}

/// Calls `work` for each head of these tokens, with its sequence, head and token.
template <class Work>
ABLATE_INLINE void for_heads(const GatedNormCall& c, std::int64_t begin, std::int64_t end, const Work& work) {
  for (std::int64_t i = begin; i < end; ++i)
    for (int h = 0; h < c.heads; ++h) work(i / c.tokens, h, i % c.tokens);
}

ABLATE_INLINE const float* gate_at(const GatedNormCall& c, std::int64_t b, int h, std::int64_t t) {
  return c.gate.data != nullptr ? c.gate.at(b, h, t) : nullptr;
}

void gated_norm(const GatedNormCall& c, std::int64_t begin, std::int64_t end, const Heads<float>& out) {
  for_heads(c, begin, end, [&](std::int64_t b, int h, std::int64_t t) {
    gated_head(c, c.values.at(b, h, t), gate_at(c, b, h, t), out.at(b, h, t));
  });
}

void gated_norm_backward(const GatedNormCall& c, std::int64_t begin, std::int64_t end, const Heads<const float>& d_out,
                         const GatedNormGradients& g) {
  for_heads(c, begin, end, [&](std::int64_t b, int h, std::int64_t t) {
    gated_head_backward(c, c.values.at(b, h, t), gate_at(c, b, h, t), d_out.at(b, h, t), g.values.at(b, h, t),
                        g.gate.data != nullptr ? g.gate.at(b, h, t) : nullptr);
  });
}

}  // namespace
}  // namespace ablate::kernels::cpu
