#include "means.h"

#include <ATen/Dispatch.h>

#include "ablate/operation.h"
#include "ablate/torch_parallel.h"

namespace ablate::segment_mean {
namespace {

constexpr std::int64_t kGrain = 1 << 14;  // minimum number of elements per thread

/// Empty tensor like x, but with `length` tokens: [batch, heads, length, d] as a view of [batch, length, heads, d].
Tensor like(const Tensor& x, std::int64_t length) {
  return empty({x.size(0), length, x.size(1), x.size(3)}, x.options()).transpose(1, 2);
}

/// True if the loops below support x. They are several times faster than torch's strided reductions, the fallback.
bool can_walk(const Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == kFloat || x.scalar_type() == kDouble) && x.stride(3) == 1;
}

/// Calls f(batch, head, segment) for all segments of [batch, heads, segments, ...], in parallel.
template <class F>
void each_segment(const Tensor& segments, std::int64_t numbers, const F& f) {
  const auto heads = segments.size(1), count = segments.size(2);
  const auto grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, numbers));
  const auto total = segments.size(0) * heads * count, parts = parts_for_threads(total / grain);
  in_parallel(parts, [&](std::int64_t part) {
    const auto end = total * (part + 1) / parts;
    for (auto i = total * part / parts; i < end; ++i) f(i / (heads * count), i / count % heads, i % count);
  });
}

Tensor walk_means(const Tensor& x, std::int64_t tokens) {
  auto result = like(x, x.size(2) / tokens);
  const auto d = x.size(3);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "segment means", [&] {
    const auto* const from = x.const_data_ptr<scalar_t>();
    auto* const to = result.mutable_data_ptr<scalar_t>();
    const auto scale = scalar_t(1) / static_cast<scalar_t>(tokens);
    each_segment(result, tokens * d, [&](std::int64_t b, std::int64_t h, std::int64_t j) {
      const auto* token = from + b * x.stride(0) + h * x.stride(1) + j * tokens * x.stride(2);
      auto* const mean = to + b * result.stride(0) + h * result.stride(1) + j * result.stride(2);
      for (std::int64_t c = 0; c < d; ++c) mean[c] = token[c];
      for (std::int64_t i = 1; i < tokens; ++i) {
        token += x.stride(2);
        for (std::int64_t c = 0; c < d; ++c) mean[c] += token[c];
      }
      for (std::int64_t c = 0; c < d; ++c) mean[c] *= scale;
    });
  });
  return result;
}

Tensor walk_spread(const Tensor& gradient, std::int64_t tokens) {
  auto result = like(gradient, gradient.size(2) * tokens);
  const auto d = gradient.size(3);
  AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "segment means", [&] {
    const auto* const from = gradient.const_data_ptr<scalar_t>();
    auto* const to = result.mutable_data_ptr<scalar_t>();
    const auto scale = scalar_t(1) / static_cast<scalar_t>(tokens);
    each_segment(gradient, tokens * d, [&](std::int64_t b, std::int64_t h, std::int64_t j) {
      const auto* const of_mean = from + b * gradient.stride(0) + h * gradient.stride(1) + j * gradient.stride(2);
      auto* token = to + b * result.stride(0) + h * result.stride(1) + j * tokens * result.stride(2);
      for (std::int64_t i = 0; i < tokens; ++i, token += result.stride(2))
        for (std::int64_t c = 0; c < d; ++c) token[c] = of_mean[c] * scale;
    });
  });
  return result;
}

}  // namespace

Tensor means(const Tensor& x, std::int64_t tokens) {
  if (tokens == 1) return x;
  return with_gradient(
      {x},
      [&](Saved&) {
        return can_walk(x) ? walk_means(x, tokens) : x.unflatten(2, {-1, tokens}).mean(3);
      },
      [tokens](const Tensor& gradient, const Saved&) -> std::vector<Tensor> {
        if (can_walk(gradient)) return {walk_spread(gradient, tokens)};
        return {(gradient / static_cast<double>(tokens)).unsqueeze(3).expand({-1, -1, -1, tokens, -1}).flatten(2, 3)};
      });
}

}  // namespace ablate::segment_mean
