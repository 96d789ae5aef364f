// Short convolution on a CPU, by raw pointers, as described in core/sdk/include/ablate/short_convolution.h.
#pragma once

#include "core/kernels/cpu/heads.h"

namespace ablate::kernels::cpu {

/// Largest number of tokens of a filter.
inline constexpr int kLongestFilter = 16;

/// All numbers are float32.
struct ShortConvolutionCall {
  std::int64_t batch = 0, tokens = 0;
  int channels = 0;               ///< a multiple of kLanes
  int length = 0;                 ///< tokens of the filter, 1 to kLongestFilter
  Heads<const float> x;           ///< [batch, 1, tokens, channels]
  Heads<const float> before;      ///< [batch, 1, length - 1, channels]; null data: 0
  const float* filter = nullptr;  ///< [length, channels]
  const float* bias = nullptr;    ///< [channels]; null: 0
};

/// Gradients. A call writes all of them, and skips null pointers.
struct ShortConvolutionGradients {
  Heads<float> x, before;
  float* weights = nullptr;  ///< [batch, length + 1, channels]: for each sequence, gradients of the filter, then of the bias
};

/// Returns the number of scratch floats that a call needs, forward or backward.
std::int64_t short_convolution_scratch(const ShortConvolutionCall& call);

/// @param scratch 64-byte aligned
/// @param out like x
using ShortConvolutionForward = void (*)(const ShortConvolutionCall& call, float* scratch, const Heads<float>& out);
/// @param d_out like x
using ShortConvolutionBackward = void (*)(const ShortConvolutionCall& call, float* scratch, const Heads<const float>& d_out,
                                          const ShortConvolutionGradients& gradients);

}  // namespace ablate::kernels::cpu
