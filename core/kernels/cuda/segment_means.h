// Means of segments of neighbouring tokens on a device, and their gradient (plugins/segment-mean; AdaMRA, section 3.2).
#pragma once

#include <cstdint>

#include "core/kernels/cuda/numbers.h"

namespace ablate::kernels::cuda {

/// A segment is `length` neighbouring tokens, and the last segment may be shorter. pieces = ceil(tokens / length).
template <class T>  // float, or Bf16; sums are computed in float32
struct SegmentMeans {
  Shape shape;
  std::int64_t length;  ///< at least 1
  int d;                ///< channels, at least 1
  const bool* mask;     ///< [batch, tokens], true: counts; nullptr: all
};

/// Computes means [batch, heads, pieces, d] of the tokens of x that count, or 0 if no token counts.
/// @param mass [batch, pieces]: number of tokens that count; nullptr: not requested
/// @param stream a cudaStream_t
/// @return nullptr, or the error
template <class T>
const char* segment_means(const SegmentMeans<T>& of, const Heads<const T>& x, const Heads<T>& means, float* mass, void* stream);

/// @param d_means [batch, heads, pieces, d]
/// @param mass result of the forward pass; nullptr: counted again
/// @param d_x [batch, heads, tokens, d]; 0 for tokens that do not count
template <class T>
const char* segment_means_backward(const SegmentMeans<T>& of, const Heads<const T>& d_means, const float* mass,
                                   const Heads<T>& d_x, void* stream);

}  // namespace ablate::kernels::cuda
