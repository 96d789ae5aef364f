// The SDK's attention between projections: references in plain operators, and the choice of the fused form.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "ablate/kernel_attention.h"
#include "ablate/masked_softmax.h"
#include "ablate/random_features.h"
#include "core/kernels/linear_attention.h"

namespace ablate {
namespace {

using kernels::LinearAttention;

constexpr double kNoKey = -1e30;  // logarithm of a masked key: finite, and below all other logarithms

/// Attention between projections. `read` maps the heads' queries, keys and values to [batch, heads, n, d_head].
template <class Read>
Tensor between(const Tensor& queries, const Tensor& context, const Projections& by, const Read& read) {
  const auto heads_of = [&](const std::shared_ptr<Linear>& projection, const Tensor& x) {
    return split_heads(projection->forward(x), by.heads);
  };
  const auto q = heads_of(by.query, queries), k = heads_of(by.key, context), v = heads_of(by.value, context);
  return by.output->forward(merge_heads(read(q, k, v)));
}

Tensor kernel_reference(const Tensor& queries, const Tensor& context, const Tensor& mask, const Projections& by,
                        FeatureMap map) {
  return between(queries, context, by, [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    const auto mass = mask.defined() ? mask.to(q.scalar_type()).unsqueeze(1) : Tensor();
    return kernel_attention(q, k, v, mass, map);
  });
}

/// phi(x) divided by its largest exponential along `over`; 0 where `masked` is true.
Tensor features(const Tensor& x, const Tensor& vectors, IntArrayRef over, const Tensor& masked) {
  const auto log =
      log_features(FeatureKernel::kPositive, x * std::pow(static_cast<double>(x.size(-1)), -0.25), vectors.to(x.scalar_type()))
          .log;
  // The exponents are masked, not only the maximum: if all keys are masked, exp would be infinite and the gradient NaN.
  const auto visible = masked.defined() ? log.masked_fill(masked, kNoKey) : log;
  const auto phi = (visible - visible.detach().amax(over, true)).exp();
  return masked.defined() ? phi.masked_fill(masked, 0) : phi;
}

Tensor feature_reference(const Tensor& queries, const Tensor& context, const Tensor& mask, const Projections& by,
                         const Tensor& vectors) {
  return between(queries, context, by, [&](const Tensor& queries_of, const Tensor& keys, const Tensor& values) {
    const auto v = widened(values);
    const auto masked = mask.defined() ? mask.logical_not().unsqueeze(1).unsqueeze(-1) : Tensor();
    const auto q = features(widened(queries_of), vectors, {-1}, {}), k = features(widened(keys), vectors, {-2, -1}, masked);
    const auto read = q.matmul(k.transpose(-1, -2).matmul(with_ones(v)));
    const auto d = v.size(3);
    const auto sum = read.narrow(3, d, 1);
    return (read.narrow(3, 0, d) / sum.masked_fill(sum <= least_kernel_sum(sum), std::numeric_limits<double>::infinity()))
        .to(values.scalar_type());
  });
}

/// Sets masked tokens to 0 before any product, because 0 * NaN would reach the weights' gradients.
Tensor clear(const Tensor& context, const Tensor& mask) {
  return mask.defined() ? context.masked_fill(mask.logical_not().unsqueeze(-1), 0) : context;
}

LinearAttention call_of(const Tensor& queries, const Tensor& context, const Tensor& mask, const Projections& by) {
  return {.queries = queries,
          .groups = {{.context = context,
                      .mass = mask,
                      .query = by.query->weight,
                      .query_bias = by.query->bias,
                      .key = by.key->weight,
                      .key_bias = by.key->bias,
                      .value = by.value->weight,
                      .value_bias = by.value->bias}},
          .output = by.output->weight,
          .output_bias = by.output->bias,
          .heads = by.heads};
}

}  // namespace

Tensor projected_kernel_attention(const Tensor& queries, const Tensor& context, const Tensor& mask, const Projections& by,
                                  FeatureMap map, bool fused) {
  const auto keys = clear(context, mask);
  const auto& query_tokens = queries.is_same(context) ? keys : queries;
  auto call = call_of(query_tokens, keys, mask, by);
  call.map = map;
  return fused && may_fuse(call) ? fused_linear_attention(call) : kernel_reference(query_tokens, keys, mask, by, map);
}

Tensor projected_feature_attention(const Tensor& queries, const Tensor& context, const Tensor& mask, const Projections& by,
                                   const Tensor& vectors, bool fused) {
  const auto keys = clear(context, mask);
  const auto& query_tokens = queries.is_same(context) ? keys : queries;
  auto call = call_of(query_tokens, keys, mask, by);
  call.vectors = vectors;
  return fused && may_fuse(call) ? fused_linear_attention(call) : feature_reference(query_tokens, keys, mask, by, vectors);
}

Tensor grouped_kernel_attention(const Tensor& queries, const std::vector<QueryGroup>& groups, const Tensor& group_of,
                                const Tensor& factors, const Linear& output, std::int64_t heads, FeatureMap map) {
  const LinearAttention call{.queries = queries,
                             .groups = groups,
                             .group_of = group_of,
                             .factors = factors,
                             .output = output.weight,
                             .output_bias = output.bias,
                             .heads = heads,
                             .map = map};
  if (!may_fuse(call))
    throw std::invalid_argument(
        "grouped_kernel_attention: no fused form here for these types or sizes: call may_group_attention() first");
  return fused_linear_attention(call);
}

bool may_group_attention(const Tensor& queries, std::int64_t width, std::int64_t heads) {
  return kernels::may_fuse_widths(queries, width, heads);
}

}  // namespace ablate
