// Kernel attention on a device: what core/sdk/include/ablate/kernel_attention.h says, in both directions.
#pragma once

#include <cstdint>

#include "core/kernels/cuda/numbers.h"

namespace ablate::kernels::cuda {

/// phi; kGiven: queries and keys are features already, at least 0 (Performer's).
enum class Features : int { kElu, kRelu, kGiven };

/// out_i = sum_j mass_j phi(q_i).phi(k_j) v_j / sum_j mass_j phi(q_i).phi(k_j); a query whose weights sum to 0 (or below 1e-19,
/// the root of the least float32) reads 0, and nothing flows back through it; one whose sum is infinite or NaN reads NaN. Sums
/// are formed in float32, in an order that follows from the sizes alone: the same call gives the same bits.
template <class T>  // float, or Bf16: products by tensor cores
struct KernelAttention {
  Shape shape;        ///< of the queries
  std::int64_t keys;  ///< tokens that are read, at least 0
  int d, d_value;     ///< channels of a head, 1 to 1024
  Features features;
  Heads<const T> q, k, v;   ///< [batch, heads, tokens, d], [.., keys, d], [.., keys, d_value]
  Heads<const float> mass;  ///< [batch, heads, keys], at least 0 (0: as if the key were not there); no data: 1 everywhere
};

/// What the backward pass needs of the forward pass, in float32; the caller's memory.
struct KernelAttentionSaved {
  float* memory;   ///< [batch, heads, d, d_value]: the sums of mass phi(k) v^T
  float* totals;   ///< [batch, heads, d]: of mass phi(k)
  float* inverse;  ///< [batch, heads, tokens]: 1 over a query's sum of weights, 0 where it reads 0, NaN where it reads that
};

template <class T>
struct KernelAttentionGradients {
  Heads<T> q, k, v;   ///< shaped as these
  Heads<float> mass;  ///< [batch, heads, keys], of each head by itself; no data: not asked for
};

/// Floats of scratch for either direction: whichever of tokens and keys is more is summed by pieces of 256.
std::int64_t kernel_attention_scratch(const Shape& shape, std::int64_t keys, int d, int d_value);

/// @param out [batch, heads, tokens, d_value] @param stream a cudaStream_t, on which all of it runs
/// @return nullptr, or what is wrong; memory may then have been written
template <class T>
const char* kernel_attention(const KernelAttention<T>& of, const Heads<T>& out, const KernelAttentionSaved& saved,
                             float* scratch, void* stream);

/// @param d_out [batch, heads, tokens, d_value] @param saved what the forward pass gave
template <class T>
const char* kernel_attention_backward(const KernelAttention<T>& of, const Heads<const T>& d_out,
                                      const KernelAttentionSaved& saved, const KernelAttentionGradients<T>& gradients,
                                      float* scratch, void* stream);

}  // namespace ablate::kernels::cuda
