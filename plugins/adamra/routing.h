// Each query is read in one head: queries are moved into blocks by head and back, and every head sees its own queries alone.
#pragma once

#include <vector>

#include "ablate/tensor.h"

namespace ablate::adamra {

/// Rows to be picked from a matrix.
struct Picks {
  Tensor index;   ///< [count] int64
  Tensor absent;  ///< [few] int64, which of the picked rows are to be 0

  /// [rows, d] -> [count, d]
  Tensor from(const Tensor& matrix) const;
};

/// Where every query is read. Head h owns a block of batch * width[h] rows, width[h] being the most queries of one item that
/// chose it, so that a block is a plain [batch, width, d] tensor; the blocks stand one after another. Rows without a query
/// (items that chose the head less often) are 0. The rows are at most batch * n * heads, about batch * n where items agree.
struct Assignment {
  std::vector<std::int64_t> widths;  ///< [heads]
  std::vector<std::int64_t> counts;  ///< [heads]: queries in the head, over the whole batch
  Picks queries;                     ///< rows of the blocks, from the queries [batch * n, d]
  Picks rows;                        ///< queries, from the rows of the blocks; 0 for a query that is not read
  std::int64_t row_count() const { return queries.index.size(0); }
};

/// @param chosen [batch, n] int64, in [0, heads) @param real [batch, n] bool: only these queries are read; undefined: all.
Assignment assign(const Tensor& chosen, const Tensor& real, std::int64_t heads);

/// there.from(matrix), where `back` undoes `there`. The gradient is a gather, too (back.from), which costs a fraction of the
/// scatter-add that torch derives, not knowing that no row is picked twice.
Tensor move_rows(const Tensor& matrix, const Picks& there, const Picks& back);

/// x * weights, x [rows, d], weights [rows, 1] > 0. Keeps the product, which the next layer keeps anyway, instead of x.
Tensor weigh_rows(const Tensor& x, const Tensor& weights);

}  // namespace ablate::adamra
