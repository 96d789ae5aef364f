// Operations of decayed sums on a chunk's tokens.
#pragma once

#include "core/kernels/cpu/decayed_sums.h"
#include "core/kernels/cpu/tiles.h"

namespace ablate::kernels::cpu {
namespace {

constexpr int kBlocks = kTile / kLanes;  // number of vectors that a chunk's tokens fill

/// Rows of a chunk, `row` floats apart.
template <class T>
struct Rows {
  T* data;
  int row;
};

/// Returns the tokens in place, or for an incomplete last chunk a copy with rows of zeros behind the tokens.
ABLATE_INLINE Rows<const float> rows_of(const Heads<const float>& from, std::int64_t b, std::int64_t h, std::int64_t first,
                                        std::int64_t tokens, int width, float* padded) {
  const float* const at = from.at(b, h, first);
  if (tokens == kTile) return {at, static_cast<int>(from.token)};
  for (int t = 0; t < kTile; ++t)
    for (int c = 0; c < width; c += kLanes) store(padded + t * width + c, t < tokens ? load(at + t * from.token + c) : V{});
  return {padded, width};
}

/// Returns the destination of results, or `padded` for an incomplete last chunk: put() then copies the results from there.
ABLATE_INLINE Rows<float> room_for(const Heads<float>& to, std::int64_t b, std::int64_t h, std::int64_t first,
                                   std::int64_t tokens, int width, float* padded) {
  if (tokens == kTile) return {to.at(b, h, first), static_cast<int>(to.token)};
  return {padded, width};
}
ABLATE_INLINE void put(const Rows<float>& from, const Heads<float>& to, std::int64_t b, std::int64_t h, std::int64_t first,
                       std::int64_t tokens, int width) {
  if (tokens == kTile) return;
  float* const at = to.at(b, h, first);
  for (int t = 0; t < tokens; ++t)
    for (int c = 0; c < width; c += kLanes) store(at + t * to.token + c, load(from.data + t * from.row + c));
}

/// Sets the sums, or their gradients, at the start of a pass: to `carried`, or to 0 if `carried` is null.
ABLATE_INLINE void begin_with(const float* carried, std::int64_t floats, float* sums) {
  if (carried != nullptr)
    copy_rows(carried, 1, static_cast<int>(floats), sums);
  else
    set_zero(sums, floats);
}

// Sums along lanes: each lane plus all lanes before or behind it, by doubling distances. No sum is subtracted from another.
#define ABLATE_ZEROS_THEN(x, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
  __builtin_shufflevector(V{}, x, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
/// Moves lane i - 1 to lane i, and 0 to lane 0.
ABLATE_INLINE V up_by_1(V x) { return ABLATE_ZEROS_THEN(x, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30); }
/// Moves lane i + 1 to lane i, and 0 to the last lane.
ABLATE_INLINE V down_by_1(V x) { return ABLATE_ZEROS_THEN(x, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0); }
ABLATE_INLINE V sums_up_to(V x) {
  x += up_by_1(x);
  x += ABLATE_ZEROS_THEN(x, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
  x += ABLATE_ZEROS_THEN(x, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
  x += ABLATE_ZEROS_THEN(x, 0, 0, 0, 0, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23);
  return x;
}
ABLATE_INLINE V sums_from(V x) {
  x += down_by_1(x);
  x += ABLATE_ZEROS_THEN(x, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0, 0);
  x += ABLATE_ZEROS_THEN(x, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0, 0, 0, 0);
  x += ABLATE_ZEROS_THEN(x, 24, 25, 26, 27, 28, 29, 30, 31, 0, 0, 0, 0, 0, 0, 0, 0);
  return x;
}
#undef ABLATE_ZEROS_THEN

/// Returns the dot product of each row of `a` with the same row of `b`, in the lanes of one vector (kLanes rows).
ABLATE_INLINE V row_products(const float* a, int a_row, const float* b, int b_row, int width) {
  V total[kLanes];
  for (int r = 0; r < kLanes; ++r) {
    total[r] = V{};
    for (int c = 0; c < width; c += kLanes) total[r] += load(a + r * a_row + c) * load(b + r * b_row + c);
  }
  return sums(total);
}

}  // namespace
}  // namespace ablate::kernels::cpu
