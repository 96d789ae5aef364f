// Reference for sparse patterns: softmax attention of all queries to all keys, with a mask for the pairs that are not seen.
#pragma once

#include "tests/plugins/attention.h"

namespace ablate::test {

/// Returns [n, heads * d] as [heads, n, d].
inline Tensor by_head(const Tensor& x, std::int64_t heads) { return x.unflatten(-1, {heads, -1}).transpose(0, 1); }

/// Returns the product of softmax(scores) and values, 0 in rows that see no key. Scores are [heads, n, keys]; `seen` is bool,
/// broadcast to the scores.
inline Tensor read_seen(const Tensor& scores, const Tensor& values, const Tensor& seen) {
  const auto nothing = seen.any(-1, true).logical_not();
  const auto weights = scores.masked_fill(seen.logical_or(nothing).logical_not(), -INFINITY).softmax(-1);
  return weights.masked_fill(nothing, 0).matmul(values);
}

/// Returns one item before the output projection, [heads, n, d], from queries [n, d_model] and context [keys, d_model].
/// `seen` is [n, keys] or [heads, n, keys] bool. `prefix` begins the projections' names.
inline Tensor masked_heads(const Attention& attention, std::int64_t heads, const Tensor& queries, const Tensor& context,
                           const Tensor& seen, const std::string& prefix = "") {
  const auto q = by_head(layer(attention, prefix + "query", queries), heads),
             k = by_head(layer(attention, prefix + "key", context), heads),
             v = by_head(layer(attention, prefix + "value", context), heads);
  return read_seen(q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(2))), v, seen);
}

/// Returns [n, d_model] from [heads, n, d], through the output projection.
inline Tensor joined_heads(const Attention& attention, const Tensor& values) {
  return layer(attention, "output", values.transpose(0, 1).flatten(1));
}

inline Tensor masked(const Attention& attention, std::int64_t heads, const Tensor& queries, const Tensor& context,
                     const Tensor& seen) {
  return joined_heads(attention, masked_heads(attention, heads, queries, context, seen));
}

/// Returns [n, offset + n] bool: the result of `seen` for each query and key. Keys begin at -offset.
template <class Seen>
Tensor pairs(std::int64_t n, const Seen& seen, std::int64_t offset = 0) {
  auto result = full({n, offset + n}, false, kBool);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = -offset; j < n; ++j)
      if (seen(i, j)) result[i][offset + j] = true;
  return result;
}

/// Reference for one item of `length` tokens, without padding: returns [length, d_model].
using ItemOracle = std::function<Tensor(const Tensor& tokens)>;

/// Differences between an attention and its reference, for x [batch, n, kChannels]: outputs, and all gradients.
struct Off {
  double output = 0, gradient = 0;
};
inline Off off_by(Attention& attention, const Tensor& x, const ItemOracle& oracle) {
  const auto leaf = x.clone().requires_grad_(), weights = normal(x.sizes(), 3);
  const auto output = run(attention, {leaf});
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < x.size(0); ++i) rows.push_back(oracle(leaf[i]));
  const auto expected = stack(rows);
  return {distance(output, expected), distance(gradients(attention, (output * weights).sum(), {leaf}),
                                               gradients(attention, (expected * weights).sum(), {leaf}))};
}

/// Returns the differences of off_by() for items of different lengths, padded with NaN: outputs and gradients of real tokens.
inline Off off_padded(Attention& attention, const Tensor& x, const std::vector<std::int64_t>& lengths,
                      const ItemOracle& oracle) {
  const auto n = x.size(1), items = x.size(0);
  const auto mask = mask_of(n, lengths), real = mask.unsqueeze(-1), weights = normal(x.sizes(), 3);
  const auto leaf = x.masked_fill(real.logical_not(), NAN).requires_grad_();
  const auto output = run(attention, {leaf, {}, mask});
  const auto found = gradients(attention, (output * weights).masked_select(real).sum(), {leaf});
  Off off;
  auto loss = zeros({}, kDouble);
  const auto clean = x.clone().requires_grad_();
  for (std::int64_t i = 0; i < items; ++i) {
    const auto own = lengths[static_cast<std::size_t>(i)];
    if (own == 0) continue;
    const auto expected = oracle(clean[i].narrow(0, 0, own));
    off.output = std::max(off.output, distance(output[i].narrow(0, 0, own), expected));
    loss = loss + (expected * weights[i].narrow(0, 0, own)).sum();
  }
  off.gradient = distance(found, gradients(attention, loss, {clean}));
  return off;
}

}  // namespace ablate::test
