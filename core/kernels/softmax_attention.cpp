#include "core/kernels/softmax_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ablate/operation.h"
#include "core/kernels/choice.h"
#include "core/kernels/cpu/softmax_attention.h"
#include "core/kernels/heads_call.h"

namespace ablate::kernels {
namespace {

struct SoftmaxSaved {
  enum : std::size_t { kQueries, kKeys, kValues, kBias, kOut, kStatistics };
};

cpu::SoftmaxAttentionCall softmax_call(const Saved& saved, bool causal) {
  using S = SoftmaxSaved;
  const auto &q = saved[S::kQueries], &k = saved[S::kKeys], &v = saved[S::kValues], &bias = saved[S::kBias];
  return {.heads = q.size(1),
          .n = q.size(2),
          .m = k.size(2),
          .d = static_cast<int>(q.size(3)),
          .d_value = static_cast<int>(v.size(3)),
          .causal = causal,
          .q = read_heads(q),
          .k = read_heads(k),
          .v = read_heads(v),
          .bias = bias.defined() ? read_heads(bias.transpose(2, 3)) : cpu::Heads<const float>(),
          .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(q.size(3)))),
          .product = product()};
}

Tensor forward_of_softmax(Saved& saved, bool causal) {
  using S = SoftmaxSaved;
  const auto& q = saved[S::kQueries];
  const auto call = softmax_call(saved, causal);
  auto out = room_of_heads(q, call.heads, call.d_value),
       statistics = empty({q.size(0), call.heads, call.tiles(), 2, cpu::kTile}, q.options().requires_grad(false));
  const auto to = write_heads(out);
  auto* const numbers = statistics.mutable_data_ptr<float>();
  share_sequences(q.size(0) * call.heads, cpu::softmax_attention_scratch(call, false),
                  [&](std::int64_t begin, std::int64_t end, float* scratch) {
                    form().softmax_attention(call, begin, end, scratch, to, numbers);
                  });
  saved[S::kOut] = out, saved[S::kStatistics] = statistics;
  return out;
}

std::vector<Tensor> backward_of_softmax(const Tensor& gradient, const Saved& saved, bool causal) {
  using S = SoftmaxSaved;
  const auto &q = saved[S::kQueries], &k = saved[S::kKeys], &v = saved[S::kValues];
  const auto call = softmax_call(saved, causal);
  const auto d_out = with_rows(gradient);
  auto dq = room_of_heads(q, call.heads, call.d), dk = room_of_heads(k, call.heads, call.d),
       dv = room_of_heads(v, call.heads, call.d_value);
  const cpu::SoftmaxAttentionGradients to{write_heads(dq), write_heads(dk), write_heads(dv)};
  const auto from = read_heads(d_out), out = read_heads(saved[S::kOut]);
  const auto* const numbers = saved[S::kStatistics].const_data_ptr<float>();
  share_sequences(q.size(0) * call.heads, cpu::softmax_attention_scratch(call, true),
                  [&](std::int64_t begin, std::int64_t end, float* scratch) {
                    form().softmax_attention_backward(call, begin, end, scratch, out, numbers, from, to);
                  });
  return {dq, dk, dv, {}};
}

/// Converts a mask to a bias that is added to scores.
Tensor as_bias(const Tensor& mask) {
  if (!mask.defined() || mask.scalar_type() != kBool) return mask;
  return zeros(mask.sizes(), TensorOptions().dtype(kFloat))
      .masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
}

constexpr std::int64_t kFewestQueries = 32;  ///< half a tile: with fewer, most of the tile would be empty

}  // namespace

bool has_softmax_form(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal) {
  if (!may_fuse(Choice::kFused, {q, k, v}) || q.dim() != 4 || k.dim() != 4 || v.dim() != 4) return false;
  const auto batch = q.size(0), heads = q.size(1), n = q.size(2), d = q.size(3), m = k.size(2);
  if (batch * heads * m == 0 || n < kFewestQueries || !fused_channels(d) || !fused_channels(v.size(3))) return false;
  if (!k.sizes().equals({batch, heads, m, d}) || !v.sizes().slice(0, 3).equals({batch, heads, m})) return false;
  if (!mask.defined()) return true;
  const bool typed = mask.scalar_type() == kBool || (mask.scalar_type() == kFloat && !mask.requires_grad());
  return !causal && mask.device().is_cpu() && typed && mask.dim() == 4 && (mask.size(0) == batch || mask.size(0) == 1) &&
         (mask.size(1) == heads || mask.size(1) == 1) && mask.size(2) == 1 && mask.size(3) == m;
}

Tensor fused_softmax_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal) {
  return with_gradient(
      {q, k, v, mask},
      [&](Saved& saved) {
        saved = {with_rows(q), with_rows(k), with_rows(v), as_bias(mask), Tensor(), Tensor()};
        return forward_of_softmax(saved, causal);
      },
      [causal](const Tensor& gradient, const Saved& saved) { return backward_of_softmax(gradient, saved, causal); });
}

std::int64_t cpu::softmax_attention_scratch(const SoftmaxAttentionCall& call, bool backward) {
  const std::int64_t d = call.d, dv = call.d_value;
  return call.padded_keys() * ((backward ? 2 : 1) * (d + dv) + std::max(d, dv) + 1) + kTile * (3 * d + 2 * dv + 3) +
         2 * kKeyBlock * kTile;
}

}  // namespace ablate::kernels

namespace ablate {

Tensor softmax_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal, bool fused) {
  // Our form divides the heads among threads, and LibTorch's kernel the queries. LibTorch may be faster if heads are few.
  const auto shares = [&] { return parts_for_threads(q.size(0) * q.size(1) + 1) <= q.size(0) * q.size(1); };
  if (fused && kernels::tiles_outrun_products() && kernels::has_softmax_form(q, k, v, mask, causal) && shares())
    return kernels::fused_softmax_attention(q, k, v, mask, causal);
  // LibTorch's own kernel needs the same number of channels in keys and values. Otherwise LibTorch stores scores [n, m].
  const auto more = q.size(3) - v.size(3);
  if (more <= 0) return scaled_dot_product_attention(q, k, v, mask, causal);
  return scaled_dot_product_attention(q, k, pad(v, {0, more}), mask, causal).narrow(3, 0, v.size(3));
}

}  // namespace ablate
