// Kernel attention on a device, as described in core/sdk/include/ablate/kernel_attention.h, forward and backward.
#pragma once

#include <cstdint>

#include "core/kernels/cuda/numbers.h"

namespace ablate::kernels::cuda {

/// Feature map phi. kGiven: queries and keys are already features, at least 0, as in Performer.
enum class Features : int { kElu, kRelu, kGiven };

/// out_i = sum_j mass_j phi(q_i).phi(k_j) v_j / sum_j mass_j phi(q_i).phi(k_j). A query reads 0 and has no gradient if its sum
/// of weights is at most 1e-19 (the root of the least normal float32). It reads NaN if this sum is infinite or NaN. Sums are
/// computed in float32, in an order that depends only on the sizes: the same call gives the same bits.
template <class T>  // float, or Bf16 with products by tensor cores
struct KernelAttention {
  Shape shape;        ///< shape of the queries
  std::int64_t keys;  ///< tokens that are read, at least 0
  int d, d_value;     ///< channels of a head, 1 to 1024
  Features features;
  Heads<const T> q, k, v;   ///< [batch, heads, tokens, d], [.., keys, d], [.., keys, d_value]
  Heads<const float> mass;  ///< [batch, heads, keys], at least 0 (0: as if the key were missing); no data: 1 everywhere
};

/// Results of the forward pass for the backward pass, in float32 and in the caller's memory.
struct KernelAttentionSaved {
  float* memory;   ///< [batch, heads, d, d_value]: the sums of mass phi(k) v^T
  float* totals;   ///< [batch, heads, d]: the sums of mass phi(k)
  float* inverse;  ///< [batch, heads, tokens]: 1 over a query's sum of weights, 0 if it reads 0, NaN if it reads NaN
};

template <class T>
struct KernelAttentionGradients {
  Heads<T> q, k, v;   ///< same shapes as the inputs
  Heads<float> mass;  ///< [batch, heads, keys], for each head by itself; no data: not requested
};

/// Returns the number of scratch floats, forward or backward. They include a sum for every 256 tokens, or for every 256 keys if
/// there are more keys than tokens.
std::int64_t kernel_attention_scratch(const Shape& shape, std::int64_t keys, int d, int d_value);

/// @param out [batch, heads, tokens, d_value]
/// @param stream a cudaStream_t for all kernels
/// @return nullptr, or an error message; memory may be partly written after an error
template <class T>
const char* kernel_attention(const KernelAttention<T>& of, const Heads<T>& out, const KernelAttentionSaved& saved,
                             float* scratch, void* stream);

/// @param d_out [batch, heads, tokens, d_value]
/// @param saved result of the forward pass
template <class T>
const char* kernel_attention_backward(const KernelAttention<T>& of, const Heads<const T>& d_out,
                                      const KernelAttentionSaved& saved, const KernelAttentionGradients<T>& gradients,
                                      float* scratch, void* stream);

}  // namespace ablate::kernels::cuda
