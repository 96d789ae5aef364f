// Linear layers whose initial weights come from the given generator, and functions for heads.
#pragma once

#include <cmath>

#include "ablate/module.h"

namespace ablate {

/// x W^T + b of x [..., in], W [out, in], b [out] or undefined. Throws c10::Error if sizes do not fit.
/// @param fused may use the fused form (AttentionContext::fused; differentiable once) if it is faster
/// (core/kernels/affine.h): float32 on a CPU, at least 64 tokens, in and out multiples of 16, in * out at most 2^18.
/// Threads sum the gradients of W and b, so bits depend on the number of threads, as in torch.
/// @return [..., out]
Tensor affine(const Tensor& x, const Tensor& weight, const Tensor& bias, bool fused);

/// y = x W^T + b, W [out, in].
class Linear final : public Module {
 public:
  /// Weights are uniform in +-1/sqrt(in), as in torch's Linear; float32, on the CPU. Draws out * in numbers, then out for bias.
  /// @param generator on the CPU
  Linear(std::int64_t in, std::int64_t out, bool with_bias, const Generator& generator) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(in));
    weight = register_parameter("weight", empty({out, in}).uniform_(-bound, bound, generator));
    if (with_bias) bias = register_parameter("bias", empty({out}).uniform_(-bound, bound, generator));
  }

  /// @param x [..., in]
  /// @param fused as in affine()
  /// @return [..., out]
  Tensor forward(const Tensor& x, bool fused = false) const { return affine(x, weight, bias, fused); }

  Tensor weight;  ///< [out, in]
  Tensor bias;    ///< [out], or undefined
};

inline std::shared_ptr<Linear> make_linear(std::int64_t in, std::int64_t out, bool bias, const Generator& generator) {
  return std::make_shared<Linear>(in, out, bias, generator);
}

/// Projections of queries, keys and values, and of the heads' outputs.
struct Projections {
  std::shared_ptr<Linear> query, key, value, output;
  std::int64_t heads = 1;
};

/// [batch, length, heads * d_head] -> [batch, heads, length, d_head], a view. Throws c10::Error for other sizes.
inline Tensor split_heads(const Tensor& x, std::int64_t heads) { return x.unflatten(-1, {heads, -1}).transpose(1, 2); }

/// Inverse of split_heads, [batch, heads, length, d_head] -> [batch, length, heads * d_head]. Usually a copy.
inline Tensor merge_heads(const Tensor& x) { return x.transpose(1, 2).flatten(2); }

}  // namespace ablate
