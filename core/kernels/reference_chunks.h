// Chunks of tokens for the references of decayed sums and of the delta rule.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "ablate/tensor.h"

namespace ablate::kernels {

/// n tokens in chunks of 64, so that pairs and sums take about as much memory as the tokens. Fewer than 64 form one chunk.
class Chunks {
 public:
  explicit Chunks(std::int64_t n)
      : rows_(std::min<std::int64_t>(64, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n))))),
        missing_((rows_ - n % rows_) % rows_) {}

  std::int64_t rows() const { return rows_; }  ///< rows of a chunk, a power of 2

  /// @param x [batch, heads, n, d]
  /// @return [batch, heads, chunks, rows, d], zeros behind the last token
  Tensor of(const Tensor& x) const { return pad(x, {0, 0, 0, missing_}).unflatten(2, {-1, rows_}); }

 private:
  std::int64_t rows_, missing_;
};

/// For each row, the sum of all rows after it. Summed from the end, because a difference of sums would lose digits.
/// @param x [..., rows, d]
inline Tensor sums_behind(const Tensor& x) {
  const auto rows = x.size(-2);
  return pad(x.narrow(-2, 1, rows - 1), {0, 0, 0, 1}).flip({-2}).cumsum(-2).flip({-2});
}

}  // namespace ablate::kernels
