// The read of memories whose slots are landmarks: the mean key, the mean value and the count of the tokens they stand for.
#pragma once

#include <ATen/ops/elu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>
#include <limits>

#include "ablate/compression.h"

namespace ablate {

/// Base of compressions with landmarks; a method is one function, write, whose memory defines keys, values and mass.
///
/// Every landmark counts as many tokens as it stands for: weights(q)_j = mass_j sim(q, key_j). With equal segments the mass
/// cancels and this is AdaMRA's Eq. 7; with a ragged last segment it is what attention over the tokens gives when all tokens
/// of a segment are alike.
class LandmarkCompression : public Compression {
 public:
  /// As Compression::read; keeps nothing. Memory: keys [batch, heads, slots, d_key], values [batch, heads, slots, d_value],
  /// mass [batch, heads or 1, slots] of the values' type. A query whose weights sum to 0 reads 0. Kernel reads take O((n +
  /// slots) d_key d_value) time: no [n, slots] matrix exists.
  torch::Tensor read(const torch::Tensor& queries, const Memory& memory, Similarity similarity) override {
    return similarity == Similarity::kSoftmax ? softmax_read(queries, memory)
                                              : kernel_read(queries, memory, similarity == Similarity::kRelu);
  }

 private:
  static torch::Tensor softmax_read(const torch::Tensor& queries, const Memory& memory) {
    // mass exp(s) = exp(s + log mass), and log 0 = -inf leaves empty slots out.
    const auto nothing = (memory.mass > 0).any(-1, true).logical_not().unsqueeze(-1);  // [batch, heads or 1, 1, 1]
    const auto bias = memory.mass.log().unsqueeze(-2).masked_fill(nothing, 0);
    return at::scaled_dot_product_attention(queries, memory.keys, memory.values, bias).masked_fill(nothing, 0);
  }

  static torch::Tensor kernel_read(const torch::Tensor& queries, const Memory& memory, bool relu) {
    const auto features = [relu](const torch::Tensor& x) { return relu ? at::relu(x) : at::elu(x) + 1; };
    const auto q = features(queries);
    const auto k = features(memory.keys) * memory.mass.unsqueeze(-1);
    const auto numerator = q.matmul(k.transpose(-1, -2).matmul(memory.values));
    const auto denominator = q.matmul(k.sum(-2).unsqueeze(-1));
    // Over infinity, both the value and every gradient are exactly 0. The square root keeps gradients of a tiny sum finite.
    const double tiny = denominator.scalar_type() == torch::kDouble ? std::sqrt(std::numeric_limits<double>::min())
                                                                    : std::sqrt(std::numeric_limits<float>::min());
    return numerator / denominator.masked_fill(denominator <= tiny, std::numeric_limits<double>::infinity());
  }
};

}  // namespace ablate
