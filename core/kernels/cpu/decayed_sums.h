// Decayed sums on a CPU, with raw pointers and chunks of kTile tokens (see core/sdk/include/ablate/decayed_sums.h).
#pragma once

#include "core/kernels/cpu/heads.h"
#include "core/kernels/cpu/product.h"

namespace ablate::kernels::cpu {

enum class Decay : int {
  kNone,    ///< no decay
  kHead,    ///< log_decay [heads]: one number for each head and all tokens, without a gradient
  kToken,   ///< log_decay [batch, heads, tokens, 1]
  kChannel  ///< log_decay [batch, heads, tokens, d]
};

/// All numbers are float32; d and d_value are multiples of kLanes.
struct DecayedSumsCall {
  std::int64_t batch = 0, heads = 0, tokens = 0;
  int d = 0, d_value = 0;
  bool shared = false;  ///< all heads have the queries and keys of head 0 (not with kChannel)
  Decay decay = Decay::kNone;
  Heads<const float> q, k, v;
  Heads<const float> log_decay;  ///< at most 0
  const float* state = nullptr;  ///< S_0, [batch, heads, d, d_value]; null: 0
  Product product = nullptr;

  std::int64_t chunks() const { return (tokens + kTile - 1) / kTile; }
  std::int64_t numbers() const { return static_cast<std::int64_t>(d) * d_value; }  ///< numbers in a head's sums
};

/// Gradients; all are set. Shared queries and keys have one head of gradients: the sum over all heads.
struct DecayedSumsGradients {
  Heads<float> q, k, v;
  Heads<float> log_decay;  ///< null data: not requested
  float* state = nullptr;  ///< [batch, heads, d, d_value]; null: not requested
};

/// Returns the number of scratch floats that a call needs, forward or backward.
std::int64_t decayed_sums_scratch(const DecayedSumsCall& call);

/// @param scratch 64-byte aligned
/// @param out [batch, heads, tokens, d_value]
/// @param before [batch, heads, chunks, d, d_value], the sums before each chunk
/// @param state S_n, [batch, heads, d, d_value]
using DecayedSumsForward = void (*)(const DecayedSumsCall& call, float* scratch, const Heads<float>& out, float* before,
                                    float* state);
/// @param before result of the forward pass
/// @param d_out [batch, heads, tokens, d_value]
/// @param d_state gradient of S_n; null: 0
using DecayedSumsBackward = void (*)(const DecayedSumsCall& call, float* scratch, const float* before,
                                     const Heads<const float>& d_out, const float* d_state,
                                     const DecayedSumsGradients& gradients);

}  // namespace ablate::kernels::cpu
