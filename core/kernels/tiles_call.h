// Shares the tiles of a call's tokens between threads.
#pragma once

#include <algorithm>

#include "ablate/tensor.h"
#include "ablate/torch_parallel.h"
#include "core/kernels/cpu/product.h"
#include "core/kernels/mixed_products.h"

namespace ablate::kernels {

constexpr std::int64_t kLargestWeight = 1 << 18;  ///< largest size of a weight, so that it stays in the cache between tiles

inline std::int64_t tiles_of(std::int64_t tokens) { return (tokens + cpu::kTile - 1) / cpu::kTile; }

/// Calls `work` for each of `threads` threads: thread number, tokens [begin, end) (whole tiles except the last), scratch.
template <class Work>
void share_tiles(std::int64_t tokens, std::int64_t threads, std::int64_t floats, const Work& work) {
  // One allocation for all threads, so that the peak of memory is the same in each call.
  const auto scratch = empty({threads, floats}, TensorOptions().dtype(kFloat));
  auto* const first = scratch.mutable_data_ptr<float>();
  const auto tiles = tiles_of(tokens);
  in_parallel(threads, [&](std::int64_t i) {
    const auto begin = tiles * i / threads * cpu::kTile, end = std::min(tiles * (i + 1) / threads * cpu::kTile, tokens);
    const ShareOfProducts share;
    work(i, begin, end, first + i * floats);
  });
}

/// Returns the sum of the threads' rows [threads, ...], or undefined if `rows` is undefined.
inline Tensor sum_of_threads(const Tensor& rows) {
  return !rows.defined() ? rows : rows.size(0) == 1 ? rows.squeeze(0) : rows.sum(0);
}

}  // namespace ablate::kernels
