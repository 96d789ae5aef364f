// Decayed sums on a device: what core/sdk/include/ablate/decayed_sums.h says, by chunks of 64 tokens.
#pragma once

#include <cstdint>

#include "core/kernels/cuda/numbers.h"

namespace ablate::kernels::cuda {

/// S_i = diag(exp(log_decay_i)) S_(i-1) + k_i v_i^T, read by q_i S_i. Nothing is divided by a decay and no sum of log decays is
/// taken off another one, so that however strong they are nothing overflows and small ones keep their digits. The order of all
/// sums follows from the sizes alone: the same call gives the same bits.
template <class T>  // float, or Bf16: products by tensor cores; states and log decays are float32
struct DecayedSums {
  Shape shape;
  int d, d_value;                ///< channels of a head, 1 to 1024
  Heads<const T> q, k, v;        ///< [batch, heads, tokens, d], the same, [.., d_value]
  Heads<const float> log_decay;  ///< [batch, heads, tokens, d], at most 0; no data: nothing decays, alike
  bool alike;                    ///< all channels of a head decay alike: log_decay is [batch, heads, tokens, 1]
  const float* state;            ///< S_0, [batch, heads, d, d_value]; nullptr: 0
};

/// What the backward pass needs of the forward pass; the caller's memory.
struct DecayedSumsSaved {
  float* before;  ///< [batch, heads, chunks, d, d_value]: the sums before each chunk
  float* kept;    ///< [batch, heads, chunks, d]: what a chunk leaves of them
};

template <class T>
struct DecayedSumsGradients {
  Heads<T> q, k, v;        ///< shaped as these
  Heads<float> log_decay;  ///< [batch, heads, tokens, d or 1], also where the forward pass repeats it; no data: not asked for
  float* state;            ///< of S_0, [batch, heads, d, d_value]; nullptr: not asked for
};

constexpr std::int64_t decayed_sums_chunks(std::int64_t tokens) { return (tokens + 63) / 64; }

/// Floats of scratch for the backward pass; the forward pass needs none.
std::int64_t decayed_sums_scratch(const Shape& shape, int d, int d_value);

/// @param out [batch, heads, tokens, d_value] @param state S_n, [batch, heads, d, d_value]; nullptr: not asked for; may be
/// S_0's
/// @param stream a cudaStream_t @return nullptr, or what is wrong; memory may then have been written
template <class T>
const char* decayed_sums(const DecayedSums<T>& of, const Heads<T>& out, float* state, const DecayedSumsSaved& saved,
                         void* stream);

/// @param d_out [batch, heads, tokens, d_value] @param d_state of S_n, [batch, heads, d, d_value]; nullptr: 0
template <class T>
const char* decayed_sums_backward(const DecayedSums<T>& of, const Heads<const T>& d_out, const float* d_state,
                                  const DecayedSumsSaved& saved, const DecayedSumsGradients<T>& gradients, float* scratch,
                                  void* stream);

}  // namespace ablate::kernels::cuda
