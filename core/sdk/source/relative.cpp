#include "ablate/relative.h"

#include <cmath>
#include <limits>

namespace ablate {
namespace {

/// Returns R [count, channels], of the options' type. Row t is for the distance count - 1 - t.
Tensor distances(std::int64_t count, std::int64_t channels, const TensorOptions& options) {
  const auto wide = options.dtype() == kDouble ? options : options.dtype(kFloat);
  const auto half = (channels + 1) / 2;
  const auto frequency = (arange(half, wide) * (-std::log(10000.0) / static_cast<double>(half))).exp();
  const auto angle = (count - 1 - arange(count, wide)).unsqueeze(1) * frequency;
  return cat({angle.sin(), angle.cos()}, 1).narrow(1, 0, channels).to(options.dtype());
}

/// Moves row i to the left by n - 1 - i (Transformer-XL, appendix B), from order by distance to order by key. Numbers that
/// enter from the right belong to keys later than the query. x: [batch, heads, n, keys].
Tensor shift(const Tensor& x) {
  const auto n = x.size(2), keys = x.size(3);
  return pad(x, {1, 0}).flatten(2).narrow(2, n, n * keys).unflatten(2, {n, keys});
}

}  // namespace

RelativeAttention::RelativeAttention(const AttentionContext& context, const HeadOptions& options)
    : HeadwiseAttention(context, options), d_model_(context.d_model) {
  relative_ = register_module("relative", make_linear(d_model_, heads() * d_head(), false, context.generator));
  const double bound = 1 / std::sqrt(static_cast<double>(d_model_));
  const auto bias = [&](const char* name) {
    return register_parameter(name, empty({heads(), 1, d_head()}).uniform_(-bound, bound, context.generator));
  };
  content_bias_ = bias("content_bias");
  position_bias_ = bias("position_bias");
}

Tensor RelativeAttention::relative_weights(const Tensor& q, const Tensor& k, const Tensor& mask) const {
  const auto n = q.size(2), keys = k.size(2);
  const auto options = q.options().requires_grad(false);
  const auto r = split_heads(relative_->forward(distances(keys, d_model_, options)).unsqueeze(0), heads());
  const auto scale = 1 / std::sqrt(static_cast<double>(d_head()));
  const auto score = [&](const Tensor& bias, const Tensor& of) {
    return ((widened(q) + widened(bias)) * scale).matmul(widened(of).transpose(-1, -2));
  };
  const auto all = score(content_bias_, k) + shift(score(position_bias_, r));
  return masked_softmax(all, hidden_keys(mask, true, n, keys, keys - n, q));
}

}  // namespace ablate
