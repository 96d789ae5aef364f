// Linear layers whose initial weights come from the generator handed in (torch's own layers use the global one).
#pragma once

#include <torch/nn/modules/linear.h>

#include <cmath>

namespace ablate {

/// y = x W^T + b, W [out, in], uniform in +-1/sqrt(in) as torch's Linear is; float32, on the CPU, the caller's to register.
/// Draws out * in, then out numbers from the generator, which is a CPU one.
inline torch::nn::Linear make_linear(std::int64_t in, std::int64_t out, bool bias, torch::Generator generator) {
  torch::nn::Linear layer(torch::nn::LinearOptions(in, out).bias(bias));
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  torch::NoGradGuard no_grad;
  layer->weight.uniform_(-bound, bound, generator);
  if (bias) layer->bias.uniform_(-bound, bound, generator);
  return layer;
}

/// [batch, length, heads * d_head] -> [batch, heads, length, d_head], a view. Throws c10::Error where heads does not divide.
inline torch::Tensor split_heads(const torch::Tensor& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, -1}).transpose(1, 2);
}

/// The inverse of split_heads, [batch, heads, length, d_head] -> [batch, length, heads * d_head]: a copy, as a rule.
inline torch::Tensor merge_heads(const torch::Tensor& x) { return x.transpose(1, 2).flatten(2); }

}  // namespace ablate
