// The read of memories whose slots are landmarks: the mean key, the mean value and the count of the tokens they stand for.
#pragma once

#include <ATen/ops/scaled_dot_product_attention.h>

#include "ablate/compression.h"
#include "ablate/kernel_attention.h"

namespace ablate {

/// Base of compressions with landmarks; a method is one function, write, whose memory defines keys, values and mass.
///
/// Every landmark counts as many tokens as it stands for: weights(q)_j = mass_j sim(q, key_j). With equal segments the mass
/// cancels and this is AdaMRA's Eq. 7; with a ragged last segment it is what attention over the tokens gives when all tokens
/// of a segment are alike.
class LandmarkCompression : public Compression {
 public:
  /// As Compression::read; keeps nothing. Memory: keys [batch, heads, slots, d_key], values [batch, heads, slots, d_value],
  /// mass [batch, heads or 1, slots] of the values' type; where all slots stand for equally many tokens, one number above 0,
  /// expanded. A query whose weights sum to 0 reads 0. Kernel reads take O((n + slots) d_key d_value) time: no [n, slots]
  /// matrix exists.
  torch::Tensor read(const torch::Tensor& queries, const Memory& memory, Similarity similarity) override {
    if (similarity == Similarity::kSoftmax) return softmax_read(queries, memory);
    // A mass that all slots share cancels.
    const bool shared = memory.mass.dim() > 0 && memory.mass.stride(-1) == 0 && memory.mass.stride(0) == 0;
    return kernel_attention(queries, memory.keys, memory.values, shared ? torch::Tensor() : memory.mass,
                            similarity == Similarity::kRelu ? FeatureMap::kRelu : FeatureMap::kElu);
  }

 private:
  static torch::Tensor softmax_read(const torch::Tensor& queries, const Memory& memory) {
    // mass exp(s) = exp(s + log mass), and log 0 = -inf leaves empty slots out.
    const auto nothing = (memory.mass > 0).any(-1, true).logical_not().unsqueeze(-1);  // [batch, heads or 1, 1, 1]
    const auto bias = memory.mass.log().unsqueeze(-2).masked_fill(nothing, 0);
    return at::scaled_dot_product_attention(queries, memory.keys, memory.values, bias).masked_fill(nothing, 0);
  }
};

}  // namespace ablate
