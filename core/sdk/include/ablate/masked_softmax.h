// Softmax over the keys that are not hidden, for attentions that store their scores, and a type wide enough for sums.
#pragma once

#include <limits>

#include "ablate/tensor.h"

namespace ablate {

/// Converts half precision to float32, because sums over a sequence exceed its range and precision.
inline Tensor widened(const Tensor& x) { return c10::isReducedFloatingType(x.scalar_type()) ? x.to(kFloat) : x; }
/// Returns options for sums, such as a state: the type of widened(like), without gradient.
/// @param like for example a parameter
inline TensorOptions wide_options(const Tensor& like) {
  const auto options = like.options().requires_grad(false);
  return c10::isReducedFloatingType(like.scalar_type()) ? options.dtype(kFloat) : options;
}

/// Appends a channel of ones to the values. The weighted sum of that channel is the sum of the weights.
/// @param v [batch, heads, n, d]
/// @return [batch, heads, n, d + 1]
inline Tensor with_ones(const Tensor& v) { return pad(v, {0, 1}, 1); }

/// True for keys that are padding or, if causal, come after the query: query i sees the keys 0 to offset + i.
/// @param mask [batch, keys] bool, or undefined: no padding
/// @param like any tensor on the device of the result
/// @return bool, to be expanded to [batch, heads, n, keys]; undefined: no key is hidden
inline Tensor hidden_keys(const Tensor& mask, bool causal, std::int64_t n, std::int64_t keys, std::int64_t offset,
                          const Tensor& like) {
  Tensor hidden;
  if (mask.defined()) hidden = mask.logical_not().unsqueeze(1).unsqueeze(1);
  if (!causal) return hidden;
  const auto later = ones({n, keys}, like.options().dtype(kBool).requires_grad(false)).triu(offset + 1);
  return hidden.defined() ? hidden.logical_or(later) : later;
}

/// Softmax over the last dimension, without hidden scores. A row with only hidden scores is 0, and so are its gradients.
/// @param scores float32 at least
/// @param hidden bool, or undefined: nothing is hidden
inline Tensor masked_softmax(const Tensor& scores, const Tensor& hidden) {
  if (!hidden.defined()) return scores.softmax(-1);
  // The fill value is finite, so a row without keys is not NaN. The second fill sets such a row to 0.
  return scores.masked_fill(hidden, std::numeric_limits<float>::lowest()).softmax(-1).masked_fill(hidden, 0);
}

}  // namespace ablate
