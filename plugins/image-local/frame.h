// Cuts the positions of a picture into rectangles, each with memory around it. A sequence is a picture with one row.
#pragma once

#include "ablate/tensor.h"

namespace image_local {

using ablate::Tensor;

struct Frame {
  std::int64_t rows, columns;              ///< size of the picture; each channel of a pixel is a column
  std::int64_t block_rows, block_columns;  ///< size of a rectangle of queries, at most the picture's size
  std::int64_t above, below, left, right;  ///< distance that the memory extends beyond the rectangle

  std::int64_t down() const { return (rows + block_rows - 1) / block_rows; }             ///< rectangles per column
  std::int64_t across() const { return (columns + block_columns - 1) / block_columns; }  ///< rectangles per row
  std::int64_t memory_rows() const { return above + block_rows + below; }
  std::int64_t memory_columns() const { return left + block_columns + right; }

  /// Cuts x into rectangles: [batch, heads, positions, d], up to rows * columns positions.
  /// @return [batch, heads, rectangles, positions per rectangle, d], 0 for missing positions
  Tensor queries(const Tensor& x) const {
    const auto padded = ablate::pad(grid(x), {0, 0, 0, missing_columns(), 0, missing_rows()});
    return padded.unflatten(3, {across(), block_columns})
        .unflatten(2, {down(), block_rows})
        .transpose(3, 4)
        .flatten(4, 5)
        .flatten(2, 3);
  }
  /// Like queries(), with the memory around each rectangle: [batch, heads, rectangles, memory_rows() * memory_columns(), d].
  Tensor keys(const Tensor& x) const {
    const auto padded = ablate::pad(grid(x), {0, 0, left, missing_columns() + right, above, missing_rows() + below});
    const auto around = padded.unfold(2, memory_rows(), block_rows).unfold(3, memory_columns(), block_columns);
    return around.permute({0, 1, 2, 3, 5, 6, 4}).flatten(4, 5).flatten(2, 3);
  }
  /// The inverse of queries(), for the first n positions: [batch, heads, n, d].
  Tensor joined(const Tensor& x, std::int64_t n) const {
    const auto rectangles = x.unflatten(3, {block_rows, block_columns}).unflatten(2, {down(), across()}).transpose(3, 4);
    return rectangles.flatten(4, 5).flatten(2, 3).narrow(3, 0, columns).narrow(2, 0, rows).flatten(2, 3).narrow(2, 0, n);
  }
  /// True if a memory position comes no later than the query, in row order: [positions per rectangle, memory] bool.
  Tensor no_later(c10::Device device) const {
    const auto options = ablate::TensorOptions(ablate::kLong).device(device);
    const auto own = ablate::arange(block_rows * block_columns, options).unsqueeze(1);
    const auto other = ablate::arange(memory_rows() * memory_columns(), options);
    const auto row = own.floor_divide(block_columns), column = own.remainder(block_columns);
    const auto other_row = other.floor_divide(memory_columns()) - above,
               other_column = other.remainder(memory_columns()) - left;
    return (other_row < row).logical_or((other_row == row).logical_and(other_column <= column));
  }

 private:
  std::int64_t missing_rows() const { return down() * block_rows - rows; }
  std::int64_t missing_columns() const { return across() * block_columns - columns; }
  /// [batch, heads, rows, columns, d]
  Tensor grid(const Tensor& x) const {
    return ablate::pad(x, {0, 0, 0, rows * columns - x.size(2)}).unflatten(2, {rows, columns});
  }
};

}  // namespace image_local
