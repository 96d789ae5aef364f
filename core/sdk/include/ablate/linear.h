// Linear layers whose initial weights come from the generator handed in, and heads.
#pragma once

#include <cmath>

#include "ablate/module.h"

namespace ablate {

/// x W^T + b of x [..., in], W [out, in], b [out] or undefined. @return [..., out]. Throws c10::Error where sizes do not fit.
/// @param fused may take the fused form (AttentionContext::fused; differentiable once): of float32 on a CPU where it gains
/// (core/kernels/affine.h), 64 tokens at least, in and out multiples of 16, in times out 2^18 at most. Gradients of W and b are
/// summed by threads, whose number changes bits, as in torch.
Tensor affine(const Tensor& x, const Tensor& weight, const Tensor& bias, bool fused);

/// y = x W^T + b, W [out, in].
class Linear final : public Module {
 public:
  /// Uniform in +-1/sqrt(in), as torch's Linear is; float32, on the CPU. Draws out * in, then out numbers.
  /// @param generator a CPU one
  Linear(std::int64_t in, std::int64_t out, bool with_bias, const Generator& generator) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(in));
    weight = register_parameter("weight", empty({out, in}).uniform_(-bound, bound, generator));
    if (with_bias) bias = register_parameter("bias", empty({out}).uniform_(-bound, bound, generator));
  }

  /// @param x [..., in] @param fused of affine() @return [..., out]
  Tensor forward(const Tensor& x, bool fused = false) const { return affine(x, weight, bias, fused); }

  Tensor weight;  ///< [out, in]
  Tensor bias;    ///< [out], or undefined
};

inline std::shared_ptr<Linear> make_linear(std::int64_t in, std::int64_t out, bool bias, const Generator& generator) {
  return std::make_shared<Linear>(in, out, bias, generator);
}

/// Of queries, keys, values and what heads give.
struct Projections {
  std::shared_ptr<Linear> query, key, value, output;
  std::int64_t heads = 1;
};

/// [batch, length, heads * d_head] -> [batch, heads, length, d_head], a view. Throws c10::Error where heads does not divide.
inline Tensor split_heads(const Tensor& x, std::int64_t heads) { return x.unflatten(-1, {heads, -1}).transpose(1, 2); }

/// The inverse of split_heads, [batch, heads, length, d_head] -> [batch, length, heads * d_head]: a copy, as a rule.
inline Tensor merge_heads(const Tensor& x) { return x.transpose(1, 2).flatten(2); }

}  // namespace ablate
