// Decayed sums on a device, as described in core/sdk/include/ablate/decayed_sums.h, by chunks of 64 tokens.
#pragma once

#include <cstdint>

#include "core/kernels/cuda/numbers.h"

namespace ablate::kernels::cuda {

/// S_i = diag(exp(log_decay_i)) S_(i-1) + k_i v_i^T, read by q_i S_i. No number is divided by a decay, and no sum of log decays
/// is subtracted from another. Strong decays therefore do not overflow, and weak decays keep their digits. The order of all
/// sums depends only on the sizes: the same call gives the same bits.
template <class T>  // float, or Bf16 with products by tensor cores; states and log decays are float32
struct DecayedSums {
  Shape shape;
  int d, d_value;                ///< channels of a head, 1 to 1024
  Heads<const T> q, k, v;        ///< [batch, heads, tokens, d] for q and k, [batch, heads, tokens, d_value] for v
  Heads<const float> log_decay;  ///< [batch, heads, tokens, d], at most 0; no data: no decay, and `alike` must be true
  bool alike;                    ///< all channels of a head decay alike: log_decay is [batch, heads, tokens, 1]
  const float* state;            ///< S_0, [batch, heads, d, d_value]; nullptr: 0
};

/// Results of the forward pass for the backward pass, in the caller's memory.
struct DecayedSumsSaved {
  float* before;  ///< [batch, heads, chunks, d, d_value]: the sums before each chunk
  float* kept;    ///< [batch, heads, chunks, d]: decay of the sums over the chunk
};

template <class T>
struct DecayedSumsGradients {
  Heads<T> q, k, v;        ///< same shapes as the inputs
  Heads<float> log_decay;  ///< [batch, heads, tokens, d or 1], even if the input repeats numbers; no data: not requested
  float* state;            ///< gradient of S_0, [batch, heads, d, d_value]; nullptr: not requested
};

constexpr std::int64_t decayed_sums_chunks(std::int64_t tokens) { return (tokens + 63) / 64; }

/// Returns the number of scratch floats for the backward pass; the forward pass needs none.
std::int64_t decayed_sums_scratch(const Shape& shape, int d, int d_value);

/// @param out [batch, heads, tokens, d_value]
/// @param state S_n, [batch, heads, d, d_value]; nullptr: not requested; may be the memory of S_0
/// @param stream a cudaStream_t
/// @return nullptr, or an error message; memory may be partly written after an error
template <class T>
const char* decayed_sums(const DecayedSums<T>& of, const Heads<T>& out, float* state, const DecayedSumsSaved& saved,
                         void* stream);

/// @param d_out [batch, heads, tokens, d_value]
/// @param d_state gradient of S_n, [batch, heads, d, d_value]; nullptr: 0
template <class T>
const char* decayed_sums_backward(const DecayedSums<T>& of, const Heads<const T>& d_out, const float* d_state,
                                  const DecayedSumsSaved& saved, const DecayedSumsGradients<T>& gradients, float* scratch,
                                  void* stream);

}  // namespace ablate::kernels::cuda
