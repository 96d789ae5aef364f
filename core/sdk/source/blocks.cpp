#include "ablate/blocks.h"

#include "ablate/dropout.h"

namespace ablate {
namespace {

/// Marks rows that see nothing. A mean over no key would be 0/0, so these rows may see all keys and are set to 0 afterwards.
Tensor sees_nothing(const Tensor& seen) { return seen.any(-1, true).logical_not(); }

/// Indices into one matrix with the rows of all items and heads: torch then moves whole rows, without an index per number.
/// [batch, heads, count] -> [batch * heads * count, 1]
Tensor rows_of(const Tensor& index, std::int64_t rows) {
  const auto first = arange(index.size(0) * index.size(1), index.options()).view({index.size(0), index.size(1), 1}) * rows;
  return (index + first).view({-1, 1});
}

Tensor attended(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& allowed, double dropout,
                const Generator& generator) {
  return dropout > 0 ? dropped_attention(q, k, v, allowed, false, dropout, generator)
                     : scaled_dot_product_attention(q, k, v, allowed);
}

}  // namespace

Tensor attend_seen(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& seen, double dropout,
                   const Generator& generator) {
  const auto nothing = sees_nothing(seen);
  return attended(q, k, v, seen.logical_or(nothing), dropout, generator).masked_fill(nothing, 0);
}

Tensor attend_blocks(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& seen, double dropout,
                     const Generator& generator) {
  const auto batch = q.size(0), blocks = q.size(2);
  const auto flat = [](const Tensor& x) { return x.transpose(1, 2).flatten(0, 1); };  // [batch * blocks, heads, tokens, d]
  const auto nothing = sees_nothing(seen);
  const auto allowed = flat(seen.logical_or(nothing).expand({batch, -1, blocks, -1, -1}));
  const auto values = attended(flat(q), flat(k), flat(v), allowed, dropout, generator);
  return values.unflatten(0, {batch, blocks}).transpose(1, 2).masked_fill(nothing, 0);
}

Tensor Neighbours::queries(const Tensor& x) const { return pad(x, {0, 0, 0, ragged(x.size(2))}).unflatten(2, {-1, size}); }

Tensor Neighbours::keys(const Tensor& x) const {
  const auto n = x.size(2) - offset;
  const auto padded = pad(x, {0, 0, before * size - offset, ragged(n) + behind * size});
  return padded.unfold(2, keys_of_block(), size).transpose(-1, -2);
}

Tensor Neighbours::present(const Tensor& mask) const {
  const auto n = mask.size(1) - offset;
  const auto padded = pad(mask, {before * size - offset, ragged(n) + behind * size}, false);
  return padded.unfold(1, keys_of_block(), size).unsqueeze(1).unsqueeze(3);
}

Tensor Neighbours::distance(c10::Device device) const {
  const TensorOptions options = TensorOptions(kLong).device(device);
  return arange(keys_of_block(), options) - before * size - arange(size, options).unsqueeze(1);
}

Tensor apart(const Tensor& x, std::int64_t step) {
  const auto missing = (step - x.size(2) % step) % step;
  return pad(x, {0, 0, 0, missing}).unflatten(2, {-1, step}).movedim(3, 1).flatten(0, 1);
}

Tensor together(const Tensor& x, std::int64_t step, std::int64_t n) {
  return x.unflatten(0, {-1, step}).movedim(1, 3).flatten(2, 3).narrow(2, 0, n);
}

Tensor mask_apart(const Tensor& mask, std::int64_t step) {
  return apart(mask.unsqueeze(1).unsqueeze(-1), step).squeeze(-1).squeeze(1);
}

Tensor take(const Tensor& x, const Tensor& index) {
  const auto matrix = x.flatten(0, 2).flatten(1);
  const auto taken = matrix.gather(0, rows_of(index, x.size(2)).expand({-1, matrix.size(1)}));
  auto shape = x.sizes().vec();
  shape[2] = index.size(2);
  return taken.view(shape);
}

Tensor sum_rows(const Tensor& x, const Tensor& index, std::int64_t rows) {
  const auto d = x.size(3);
  return zeros({x.size(0) * x.size(1) * rows, d}, x.options().requires_grad(false))
      .scatter_add(0, rows_of(index, rows).expand({-1, d}), x.reshape({-1, d}))
      .view({x.size(0), x.size(1), rows, d});
}

Tensor largest(const Tensor& x, std::int64_t count) {
  const NoGradGuard no_grad;
  const auto n = x.size(-1);
  if (count >= n) return ones(x.sizes(), x.options().dtype(kBool).requires_grad(false));
  // torch's topk does not define the order of equal numbers.
  const auto order = std::get<1>(x.flip({-1}).sort(std::optional<bool>(true), -1, true)).narrow(-1, 0, count);
  return zeros(x.sizes(), x.options().dtype(kBool).requires_grad(false)).scatter(-1, order * -1 + (n - 1), true);
}

Tensor mask_or_all(const Tensor& mask, std::int64_t length, const Tensor& x) {
  return mask.defined() ? mask : ones({1, length}, x.options().dtype(kBool).requires_grad(false));
}

}  // namespace ablate
