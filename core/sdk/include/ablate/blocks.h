// Attention of blocks of queries to the keys of their block: the common base of windows, chosen blocks, buckets and clusters.
// Scores exist for a block and the keys beside it, never for all pairs of tokens.
#pragma once

#include "ablate/tensor.h"

namespace ablate {

/// softmax(q k^T / sqrt(d)) v over the keys that are seen, fused. A query that sees no key gives 0 and no gradient.
/// @param q [batch, heads, n, d]
/// @param k [batch, heads, keys, d]
/// @param v [batch, heads, keys, d_value], finite even for keys that no query sees
/// @param seen bool, expandable to [batch, heads, n, keys]
/// @param dropout of weights (dropout.h), drawn from the generator
/// @return [batch, heads, n, d_value]
Tensor attend_seen(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& seen, double dropout = 0,
                   const Generator& generator = {});

/// The same as attend_seen() for queries in blocks.
/// @param q [batch, heads, blocks, size, d]
/// @param k [batch, heads, blocks, keys, d]
/// @param v [batch, heads, blocks, keys, d_value]
/// @param seen bool, expandable to [batch, heads, blocks, size, keys]
/// @return [batch, heads, blocks, size, d_value]
Tensor attend_blocks(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& seen, double dropout = 0,
                     const Generator& generator = {});

/// Sequence cut into blocks. Each block sees itself and its neighbours. Positions beyond both ends are 0 and absent.
struct Neighbours {
  std::int64_t size = 1;                ///< tokens of a block
  std::int64_t before = 1, behind = 1;  ///< neighbouring blocks that a block sees
  std::int64_t offset = 0;              ///< number of keys directly before the first query, at most before * size

  std::int64_t keys_of_block() const { return (before + 1 + behind) * size; }

  /// @param x [batch, heads, n, d]
  /// @return [batch, heads, n / size rounded up, size, d]
  Tensor queries(const Tensor& x) const;
  /// @param x [batch, heads, offset + n, d]
  /// @return [batch, heads, blocks, keys_of_block(), d], a view of a copy
  Tensor keys(const Tensor& x) const;
  /// @param mask [batch, offset + n] bool
  /// @return [batch, 1, blocks, 1, keys_of_block()]
  Tensor present(const Tensor& mask) const;
  /// Distance in tokens from a query of a block to a key, below 0 if the key comes first. [size, keys_of_block()] int64
  Tensor distance(c10::Device device) const;
  /// Returns the first n tokens of a tensor in the form of queries(): [batch, heads, n, d].
  static Tensor joined(const Tensor& blocks, std::int64_t n) { return blocks.flatten(2, 3).narrow(2, 0, n); }

 private:
  /// Number of positions to add behind n tokens so that all blocks are whole.
  std::int64_t ragged(std::int64_t n) const { return (size - n % size) % size; }
};

/// Splits a sequence into `step` sequences of every step-th token. The new sequences are neighbours in the batch.
/// @param x [batch, heads, n, d]
/// @return [batch * step, heads, n / step rounded up, d], zeros at the end
Tensor apart(const Tensor& x, std::int64_t step);
/// Inverse of apart() for the first n tokens: [batch, heads, n, d].
Tensor together(const Tensor& x, std::int64_t step, std::int64_t n);
/// apart() for a mask.
/// @param mask [batch, n] bool
/// @return [batch * step, n / step rounded up], false at the end
Tensor mask_apart(const Tensor& mask, std::int64_t step);

/// Takes rows by index for each item and head.
/// @param x [batch, heads, rows, ...]
/// @param index [batch, heads, count] int64, each in [0, rows)
/// @return [batch, heads, count, ...]
Tensor take(const Tensor& x, const Tensor& index);

/// Inverse of take(): adds up rows by their index.
/// @param x [batch, heads, count, d]
/// @param index [batch, heads, count] int64, each in [0, rows)
/// @return [batch, heads, rows, d], of x's type: convert half precision to a wider type before the call
Tensor sum_rows(const Tensor& x, const Tensor& index, std::int64_t rows);

/// Marks the `count` largest numbers of the last dimension. Among equal numbers, later numbers are marked.
/// @param x [..., n]
/// @param count at least 1; above n: all
/// @return bool, of x's shape
Tensor largest(const Tensor& x, std::int64_t count);

/// Returns the mask, or an all-true mask if it is undefined: [1, length] bool, on x's device.
Tensor mask_or_all(const Tensor& mask, std::int64_t length, const Tensor& x);

}  // namespace ablate
