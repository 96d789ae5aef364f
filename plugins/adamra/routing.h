// Moves queries into blocks, one for each head, and back, so that each head processes only its own queries.
#pragma once

#include <vector>

#include "ablate/tensor.h"

namespace ablate::adamra {

/// Rows to pick from a matrix.
struct Picks {
  Tensor index;   ///< [count] int64
  Tensor absent;  ///< [missing] int64, positions in `index` whose rows become 0

  /// [rows, d] -> [count, d]
  Tensor from(const Tensor& matrix) const;
};

/// The head and row in which each query is read. Head h owns a block [batch, widths[h], d], stored as batch * widths[h] rows.
/// widths[h] is the largest number of queries that choose h in one item. The blocks follow one another, and rows without a
/// query are 0. There are at most batch * n * heads rows, and about batch * n if the items make similar choices.
struct Assignment {
  std::vector<std::int64_t> widths;  ///< [heads]
  std::vector<std::int64_t> counts;  ///< [heads]: queries of the head in the whole batch
  Picks queries;                     ///< picks the rows of the blocks from the queries [batch * n, d]
  Picks rows;                        ///< picks the queries' results from the blocks; 0 for a query that is not read
  std::int64_t row_count() const { return queries.index.size(0); }
};

/// @param chosen [batch, n] int64, in [0, heads)
/// @param real [batch, n] bool, the queries to read; undefined: all
Assignment assign(const Tensor& chosen, const Tensor& real, std::int64_t heads);

/// Returns there.from(matrix). `back` must be the inverse of `there`, so the gradient is a gather, too (back.from). A gather
/// costs a fraction of the scatter-add that torch would derive, because torch must expect rows that are picked twice.
Tensor move_rows(const Tensor& matrix, const Picks& there, const Picks& back);

/// x * weights, x [rows, d], weights [rows, 1] > 0. Saves the product instead of x: the next layer saves the product anyway.
Tensor weigh_rows(const Tensor& x, const Tensor& weights);

}  // namespace ablate::adamra
