#include "prefix_sums.h"

#include <ATen/ops/cummax.h>

namespace ablate::performer {
namespace {

// Tokens whose weights are computed one by one; what lies before them comes as a sum.
constexpr std::int64_t kChunk = 64;

/// [batch, heads, n, ...] -> [batch, heads, chunks, kChunk, ...], `value` at the end.
Tensor in_chunks(const Tensor& x, double value = 0) {
  const auto missing = (kChunk - x.size(2) % kChunk) % kChunk;
  std::vector<std::int64_t> behind(2 * (static_cast<std::size_t>(x.dim()) - 2), 0);
  behind.back() = missing;
  return pad(x, behind, value).unflatten(2, {-1, kChunk});
}

}  // namespace

Tensor read_causally(const Tensor& q, const Scaled& keys, const Tensor& v, Sums& sums) {
  const auto n = q.size(2);
  const auto queries = in_chunks(q), features = in_chunks(keys.features), values = in_chunks(v);
  const auto logs = in_chunks(keys.log_scale, kNothing);  // [batch, heads, chunks, kChunk]
  const auto chunks = logs.size(2);
  // s_i, and the largest before each chunk and after the last one: [batch, heads, chunks + 1].
  const auto running = std::get<0>(at::cummax(cat({sums.log_scale, logs.flatten(2)}, 2), 2));
  const auto largest = running.narrow(2, 1, chunks * kChunk).unflatten(2, {chunks, kChunk});
  const auto before = cat({sums.log_scale, largest.select(3, kChunk - 1)}, 2);
  const auto at_begin = before.narrow(2, 0, chunks), at_end = before.narrow(2, 1, chunks);
  // A later key's scale is cut at 1: it is left out, and must not be infinite before that.
  const auto within = (logs.unsqueeze(3) - largest.unsqueeze(4)).clamp_max(0).exp();
  const auto weights = (queries.matmul(features.transpose(-1, -2)) * within).tril();
  const auto scaled = features * (logs - at_end.unsqueeze(3)).exp().unsqueeze(4);
  const auto products = scaled.transpose(-1, -2).matmul(values).unbind(2);
  const auto decays = (at_begin - at_end).exp().unsqueeze(3).unsqueeze(4).unbind(2);
  // Sums rather than differences: subtracting would leak a chunk's later tokens into its earlier ones through rounding.
  std::vector<Tensor> of_chunk;
  for (std::size_t c = 0; c < products.size(); ++c) {
    of_chunk.push_back(sums.sums);
    sums.sums = sums.sums * decays[c] + products[c];
  }
  sums.log_scale = before.narrow(2, chunks, 1);
  const auto earlier = (queries * (at_begin.unsqueeze(3) - largest).exp().unsqueeze(4)).matmul(stack(of_chunk, 2));
  return (weights.matmul(values) + earlier).flatten(2, 3).narrow(2, 0, n);
}

}  // namespace ablate::performer
