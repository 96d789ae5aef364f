// What forms do with tiles of tokens.
#pragma once

#include "core/kernels/cpu/vectors.h"

namespace ablate::kernels::cpu {
namespace {

/// Pieces of the scratch, 64-byte aligned as their sizes are multiples of 16.
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

/// The last tile may have fewer tokens: then it is copied, with rows of zeros behind, whose gradients are 0.
/// @return `from`, or `padded` @param row floats of a token
const float* whole_tile(const float* from, std::int64_t tokens, int row, float* padded) {
  if (tokens >= kTile) return from;
  for (std::int64_t i = 0; i < kTile * row; i += kLanes) store(padded + i, i < tokens * row ? load(from + i) : V{});
  return padded;
}

void copy_rows(const float* from, std::int64_t tokens, int row, float* to) {
  for (std::int64_t i = 0; i < tokens * row; i += kLanes) store(to + i, load(from + i));
}

/// to [row] += the sum of a tile's rows; summed by itself first, for fewer roundings. @param sum [row], scratch
ABLATE_INLINE void add_rows(const float* tile, int row, float* sum, float* to) {
  set_zero(sum, row);
  for (int i = 0; i < kTile; ++i)
    for (int j = 0; j < row; j += kLanes) store(sum + j, load(sum + j) + load(tile + i * row + j));
  add_to(to, sum, row);
}

}  // namespace
}  // namespace ablate::kernels::cpu
