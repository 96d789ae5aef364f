// Tensors for plugins: ATen's class with its methods, and the free functions that attention methods use.
//
// The selection of functions saves compile time: this header costs 2 s, <ATen/ATen.h> 7 s, <torch/nn/module.h> 10 s. For
// another function, #include <ATen/ops/NAME.h> (3 s for the first such header).
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange_ops.h>
#include <ATen/ops/bmm_ops.h>
#include <ATen/ops/constant_pad_nd_ops.h>
#include <ATen/ops/elu_ops.h>
#include <ATen/ops/empty_ops.h>
#include <ATen/ops/full_ops.h>
#include <ATen/ops/gelu_ops.h>
#include <ATen/ops/layer_norm_ops.h>
#include <ATen/ops/linear_ops.h>
#include <ATen/ops/randint_ops.h>
#include <ATen/ops/randn_ops.h>
#include <ATen/ops/scaled_dot_product_attention_ops.h>
#include <ATen/ops/silu_ops.h>
#include <ATen/ops/softplus_ops.h>
#include <ATen/ops/stack_ops.h>
#include <ATen/ops/zeros_like_ops.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ablate/tensor_operators.h"

namespace ablate {

using at::Generator;
using at::IntArrayRef;
using at::kBool;
using at::kDouble;
using at::kFloat;
using at::kLong;
using at::Tensor;
using at::TensorList;
using at::TensorOptions;
using c10::NoGradGuard;  ///< while an object exists, this thread records nothing for gradients

namespace detail {

inline std::optional<at::ScalarType> type_of(const TensorOptions& options) {
  return c10::optTypeMetaToScalarType(options.dtype_opt());
}

}  // namespace detail

// New tensors. Options are like x.options(): type and device. Without options: float32 on the CPU.
inline Tensor full(IntArrayRef sizes, const at::Scalar& value, TensorOptions options = {}) {
  return at::_ops::full::call(c10::fromIntArrayRefSlow(sizes), value, detail::type_of(options), options.layout_opt(),
                              options.device_opt(), options.pinned_memory_opt());
}
inline Tensor zeros(IntArrayRef sizes, TensorOptions options = {}) { return full(sizes, 0, options.dtype(options.dtype())); }
inline Tensor ones(IntArrayRef sizes, TensorOptions options = {}) { return full(sizes, 1, options.dtype(options.dtype())); }
inline Tensor zeros_like(const Tensor& x) { return at::_ops::zeros_like::call(x, {}, {}, {}, {}, {}); }
/// Uninitialised, for results that are completely written.
inline Tensor empty(IntArrayRef sizes, TensorOptions options = {}) {
  return at::_ops::empty_memory_format::call(c10::fromIntArrayRefSlow(sizes), detail::type_of(options), options.layout_opt(),
                                             options.device_opt(), options.pinned_memory_opt(), {});
}
/// 0, 1, ..., end - 1
inline Tensor arange(std::int64_t end, TensorOptions options = at::kLong) {
  return at::_ops::arange::call(end, detail::type_of(options), options.layout_opt(), options.device_opt(),
                                options.pinned_memory_opt());
}
/// Copies whole numbers into a tensor on the CPU.
inline Tensor integers(std::span<const std::int64_t> values) {
  auto result = empty({static_cast<std::int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), result.mutable_data_ptr<std::int64_t>());
  return result;
}

// Random numbers, always from a given generator. x.uniform_, x.normal_ and x.random_ accept a generator, too.
inline Tensor randn(IntArrayRef sizes, const Generator& generator, TensorOptions options = {}) {
  return at::_ops::randn_generator::call(c10::fromIntArrayRefSlow(sizes), generator, detail::type_of(options),
                                         options.layout_opt(), options.device_opt(), options.pinned_memory_opt());
}
/// Numbers in [0, high).
inline Tensor randint(std::int64_t high, IntArrayRef sizes, const Generator& generator, TensorOptions options = at::kLong) {
  return at::_ops::randint_generator::call(high, c10::fromIntArrayRefSlow(sizes), generator, detail::type_of(options),
                                           options.layout_opt(), options.device_opt(), options.pinned_memory_opt());
}

Tensor cat(TensorList tensors, std::int64_t dim = 0);
inline Tensor stack(TensorList tensors, std::int64_t dim = 0) { return at::_ops::stack::call(tensors, dim); }
inline Tensor bmm(const Tensor& a, const Tensor& b) { return at::_ops::bmm::call(a, b); }
/// @param pad numbers of elements before and behind in the last dimension, then in the dimension before it, ...
inline Tensor pad(const Tensor& x, IntArrayRef pad, const at::Scalar& value = 0) {
  return at::_ops::constant_pad_nd::call(x, c10::fromIntArrayRefSlow(pad), value);
}

inline Tensor elu(const Tensor& x) { return at::_ops::elu::call(x, 1, 1, 1); }
inline Tensor gelu(const Tensor& x) { return at::_ops::gelu::call(x, "none"); }
inline Tensor silu(const Tensor& x) { return at::_ops::silu::call(x); }
inline Tensor softplus(const Tensor& x) { return at::_ops::softplus::call(x, 1, 20); }
/// y = x W^T + b.
/// @param weight [out, in]
/// @param bias [out], or undefined
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) {
  return at::_ops::linear::call(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}
/// Layer norm over the last dimension.
/// @param weight, bias [channels]
inline Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon = 1e-5) {
  return at::_ops::layer_norm::call(x, weight.sym_sizes(), weight, bias, epsilon, true);
}
/// softmax(q k^T scale + mask) v, fused.
/// @param queries [batch, heads, n, d]
/// @param keys [batch, heads, m, d]
/// @param values [batch, heads, m, d_value]
/// @param mask bool (true: attend) or of the queries' type (added), expandable to [batch, heads, n, m]; undefined: none
/// @param causal query i attends to keys 0 to i; not together with a mask
/// @param scale default 1 / sqrt(d)
/// @return [batch, heads, n, d_value]; 0 in rows that attend to nothing
inline Tensor scaled_dot_product_attention(const Tensor& queries, const Tensor& keys, const Tensor& values,
                                           const Tensor& mask = {}, bool causal = false,
                                           std::optional<double> scale = std::nullopt) {
  return at::_ops::scaled_dot_product_attention::call(
      queries, keys, values, mask.defined() ? std::optional(mask) : std::nullopt, 0.0, causal, scale, false);
}

}  // namespace ablate
