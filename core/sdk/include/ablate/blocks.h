// Attention of blocks of queries to keys of their own: what windows, chosen blocks, buckets and clusters have in common. Scores
// exist for a block and the keys beside it, never for all pairs of tokens.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// softmax(q k^T / sqrt(d)) v over the keys that are seen, fused; a query that sees none gives 0, and no gradient.
/// @param q [batch, heads, n, d] @param k [batch, heads, keys, d] @param v [batch, heads, keys, d_value], finite also where
/// nobody looks @param seen bool, to be expanded to [batch, heads, n, keys] @param dropout of weights (dropout.h), drawn from
/// the generator @return [batch, heads, n, d_value]
Tensor attend_seen(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& seen, double dropout = 0,
                   const Generator& generator = {});

/// The same for queries in blocks. @param q [batch, heads, blocks, size, d] @param k [batch, heads, blocks, keys, d] @param v
/// [batch, heads, blocks, keys, d_value] @param seen bool, to be expanded to [batch, heads, blocks, size, keys]
/// @return [batch, heads, blocks, size, d_value]
Tensor attend_blocks(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& seen, double dropout = 0,
                     const Generator& generator = {});

/// A sequence cut into blocks, of which each sees itself and its neighbours. What has no token, at both ends, is 0 and absent.
struct Neighbours {
  std::int64_t size = 1;                ///< tokens of a block
  std::int64_t before = 1, behind = 1;  ///< blocks that are seen beside the own one
  std::int64_t offset = 0;              ///< keys before the first query, up to before * size: their end is aligned to it

  std::int64_t keys_of_block() const { return (before + 1 + behind) * size; }

  /// @param x [batch, heads, n, d] @return [batch, heads, n / size rounded up, size, d]
  Tensor queries(const Tensor& x) const;
  /// @param x [batch, heads, offset + n, d] @return [batch, heads, blocks, keys_of_block(), d], a view of a copy
  Tensor keys(const Tensor& x) const;
  /// @param mask [batch, offset + n] bool @return [batch, 1, blocks, 1, keys_of_block()]
  Tensor present(const Tensor& mask) const;
  /// By how many tokens a key stands behind a query of its block, below 0: before it. [size, keys_of_block()] int64
  Tensor distance(c10::Device device) const;
  /// The first n tokens of queries()'s form: [batch, heads, n, d].
  static Tensor joined(const Tensor& blocks, std::int64_t n) { return blocks.flatten(2, 3).narrow(2, 0, n); }

 private:
  /// Positions to be added at the end of n tokens, so that all blocks are whole.
  std::int64_t ragged(std::int64_t n) const { return (size - n % size) % size; }
};

/// Every step-th token: tokens of one remainder are a sequence of their own, in the batch beside the others of their item.
/// @param x [batch, heads, n, d] @return [batch * step, heads, n / step rounded up, d], zeros at the end
Tensor apart(const Tensor& x, std::int64_t step);
/// The inverse, of the first n tokens: [batch, heads, n, d].
Tensor together(const Tensor& x, std::int64_t step, std::int64_t n);
/// A mask as apart() has its tokens. @param mask [batch, n] bool @return [batch * step, n / step rounded up], false at the end
Tensor mask_apart(const Tensor& mask, std::int64_t step);

/// Rows, item by item and head by head. @param x [batch, heads, rows, ...] @param index [batch, heads, count] int64, each in
/// [0, rows) @return [batch, heads, count, ...]
Tensor take(const Tensor& x, const Tensor& index);

/// The other way: rows added up by where they belong. @param x [batch, heads, count, d] @param index [batch, heads, count]
/// int64, each in [0, rows) @return [batch, heads, rows, d], of x's type: sums of half precision want a wider one
Tensor sum_rows(const Tensor& x, const Tensor& index, std::int64_t rows);

/// Which are the `count` largest of the last dimension, of equal ones the later.
/// @param x [..., n] @param count at least 1; above n: all @return bool, of x's shape
Tensor largest(const Tensor& x, std::int64_t count);

/// The mask, or one that is true: [1, length] bool, on x's device.
Tensor mask_or_all(const Tensor& mask, std::int64_t length, const Tensor& x);

}  // namespace ablate
