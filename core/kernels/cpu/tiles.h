// Operations of forms on tiles of tokens.
#pragma once

#include "core/kernels/cpu/vectors.h"

namespace ablate::kernels::cpu {
namespace {

/// Hands out pieces of the scratch, which are 64-byte aligned because their sizes are multiples of 16.
struct Scratch {
  float* next;
  float* take(std::int64_t floats) {
    float* piece = next;
    next += floats;
    return piece;
  }
};

void set_zero(float* to, std::int64_t floats) {
  for (std::int64_t i = 0; i < floats; i += kLanes) store(to + i, V{});
}

void add_to(float* to, const float* from, std::int64_t floats) {
  for (std::int64_t i = 0; i < floats; i += kLanes) store(to + i, load(to + i) + load(from + i));
}

/// Returns `from` if the tile is whole. A last tile with fewer tokens is copied to `padded`, with rows of zeros behind it. The
/// gradients of these rows are 0. `row`: floats of a token.
const float* whole_tile(const float* from, std::int64_t tokens, int row, float* padded) {
  if (tokens >= kTile) return from;
  for (std::int64_t i = 0; i < kTile * row; i += kLanes) store(padded + i, i < tokens * row ? load(from + i) : V{});
  return padded;
}

void copy_rows(const float* from, std::int64_t tokens, int row, float* to) {
  for (std::int64_t i = 0; i < tokens * row; i += kLanes) store(to + i, load(from + i));
}

/// to [row] += the sum of a tile's rows, which is computed separately for fewer roundings. `sum` [row] is scratch.
ABLATE_INLINE void add_rows(const float* tile, int row, float* sum, float* to) {
  set_zero(sum, row);
  for (int i = 0; i < kTile; ++i)
    for (int j = 0; j < row; j += kLanes) store(sum + j, load(sum + j) + load(tile + i * row + j));
  add_to(to, sum, row);
}

/// Copies chosen rows of `from` to `padded`, with rows of zeros behind them.
const float* chosen_tile(const float* from, const std::int64_t* rows, std::int64_t tokens, int row, float* padded) {
  for (int i = 0; i < kTile; ++i)
    for (int j = 0; j < row; j += kLanes) store(padded + i * row + j, i < tokens ? load(from + rows[i] * row + j) : V{});
  return padded;
}

/// to [rows] += the sums of the rows of a tile [rows, kTile]. If `by` [kTile] is not null, it multiplies the columns. Each tile
/// is summed separately for fewer roundings. `rows` is a multiple of kLanes.
ABLATE_INLINE void add_row_sums(const float* tile, int rows, const float* by, float* to) {
  for (int i = 0; i < rows; i += kLanes) {
    V total[kLanes];
    for (int r = 0; r < kLanes; ++r) {
      total[r] = V{};
      for (int t = 0; t < kTile; t += kLanes) {
        const V x = load(tile + (i + r) * kTile + t);
        total[r] += by != nullptr ? x * load(by + t) : x;
      }
    }
    store(to + i, load(to + i) + sums(total));
  }
}

}  // namespace
}  // namespace ablate::kernels::cpu
