// Weights of attention that keeps its scores: which keys are hidden, softmax over the others, and a type wide enough for sums.
#pragma once

#include <limits>

#include "ablate/tensor.h"

namespace ablate {

/// In float32 where it is narrower: sums over a sequence leave the range of half precision, and its digits.
inline Tensor widened(const Tensor& x) { return c10::isReducedFloatingType(x.scalar_type()) ? x.to(kFloat) : x; }
/// Of sums in such a type, without gradient, as a state is. @param like a parameter's, say
inline TensorOptions wide_options(const Tensor& like) {
  const auto options = like.options().requires_grad(false);
  return c10::isReducedFloatingType(like.scalar_type()) ? options.dtype(kFloat) : options;
}

/// Values with 1 as one more channel: what weights make of it is their sum. @param v [batch, heads, n, d]
/// @return [batch, heads, n, d + 1]
inline Tensor with_ones(const Tensor& v) { return pad(v, {0, 1}, 1); }

/// Keys that are padding or, where causal, come after the query: query i sees the keys 0 to offset + i.
/// @param mask [batch, keys] bool, or undefined: no padding @param like of the device
/// @return bool, to be expanded to [batch, heads, n, keys]; undefined: none
inline Tensor hidden_keys(const Tensor& mask, bool causal, std::int64_t n, std::int64_t keys, std::int64_t offset,
                          const Tensor& like) {
  Tensor hidden;
  if (mask.defined()) hidden = mask.logical_not().unsqueeze(1).unsqueeze(1);
  if (!causal) return hidden;
  const auto later = ones({n, keys}, like.options().dtype(kBool).requires_grad(false)).triu(offset + 1);
  return hidden.defined() ? hidden.logical_or(later) : later;
}

/// softmax over the last dimension, of what is not hidden; a row that is all hidden is 0, and so are its gradients.
/// @param scores float32 at least @param hidden bool, or undefined: nothing
inline Tensor masked_softmax(const Tensor& scores, const Tensor& hidden) {
  if (!hidden.defined()) return scores.softmax(-1);
  // Finite, so that a row without keys is no NaN; and cleared behind, so that it is 0.
  return scores.masked_fill(hidden, std::numeric_limits<float>::lowest()).softmax(-1).masked_fill(hidden, 0);
}

}  // namespace ablate
