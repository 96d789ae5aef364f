// The SDK's decayed sums: the reference in plain operators, and the choice of the fused form.
#include <vector>

#include "ablate/decayed_sums.h"
#include "core/kernels/decayed_sums.h"
#include "core/kernels/reference_chunks.h"

namespace ablate {
namespace {

using kernels::sums_behind;

/// Values that the tokens of a chunk read from each other, by halves. A query of the second half reads a key of the first half
/// across the border between them. Both decays, from key to border and from border to query, are at most 1.
/// @param q, k, v, log_decay [..., rows, d], rows a power of 2
Tensor within_chunks(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay) {
  const auto rows = q.size(-2);
  auto read = (q * k).sum(-1, true) * v;
  for (std::int64_t half = 1; half < rows; half *= 2) {
    const auto part = [&](const Tensor& x, std::int64_t which) {
      return x.unflatten(-2, {rows / (2 * half), 2, half}).select(-3, which);
    };
    const auto queries = part(q, 1) * part(log_decay, 1).cumsum(-2).exp();
    const auto keys = part(k, 0) * sums_behind(part(log_decay, 0)).exp();
    const auto found = queries.matmul(keys.transpose(-1, -2)).matmul(part(v, 0));  // [..., pairs, half, d_value]
    read = read + stack({zeros_like(found), found}, -3).flatten(-4, -2);
  }
  return read;
}

/// Like within_chunks(), if all channels of a head decay alike: weights of pairs times the decay between their tokens.
/// @param log_decay [..., rows, 1]
Tensor within_chunks_alike(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay) {
  const auto rows = q.size(-2);
  // Each pair has its own sum, because a difference of two sums from the chunk's start would lose the digits of small sums.
  auto shape = log_decay.sizes().vec();
  shape.back() = rows;
  const auto left = log_decay.expand(shape).tril(-1).cumsum(-2).exp();
  return (q.matmul(k.transpose(-1, -2)) * left).tril().matmul(v);
}

/// Decayed sums without a decay.
DecayedSums undecayed(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& state) {
  const kernels::Chunks chunks(q.size(2));
  const auto queries = chunks.of(q), keys = chunks.of(k), values = chunks.of(v);
  const auto added = keys.transpose(-1, -2).matmul(values);  // [batch, heads, chunks, d_key, d_value]
  const auto first = state.defined() ? state : zeros_like(added.select(2, 0));
  // Prefix sums need no subtraction, which would leak a chunk's later tokens into earlier tokens by rounding.
  const auto sums = cat({first.unsqueeze(2), added}, 2).cumsum(2);
  const auto count = added.size(2);
  const auto within = queries.matmul(keys.transpose(-1, -2)).tril().matmul(values);
  const auto read = within + queries.matmul(sums.narrow(2, 0, count));
  return {read.flatten(2, 3).narrow(2, 0, q.size(2)), sums.select(2, count)};
}

DecayedSums reference(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay, const Tensor& state) {
  const kernels::Chunks chunks(q.size(2));
  const auto queries = chunks.of(q), keys = chunks.of(k), values = chunks.of(v), decays = chunks.of(log_decay);
  const auto added = (keys * sums_behind(decays).exp()).transpose(-1, -2).matmul(values).unbind(2);
  const auto kept = decays.sum(-2).exp().unsqueeze(-1).unbind(2);  // over a whole chunk: [batch or 1, heads, d_key or 1, 1]
  auto sums = state.defined() ? state : zeros_like(added.front());
  std::vector<Tensor> before;
  for (std::size_t chunk = 0; chunk < added.size(); ++chunk) {
    before.push_back(sums);
    sums = kept[chunk] * sums + added[chunk];
  }
  const auto between = (queries * decays.cumsum(-2).exp()).matmul(stack(before, 2));
  const auto within = (log_decay.size(-1) == 1 ? within_chunks_alike : within_chunks)(queries, keys, values, decays);
  return {(within + between).flatten(2, 3).narrow(2, 0, q.size(2)), sums};
}

}  // namespace

DecayedSums decayed_sums(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay, const Tensor& state,
                         bool fused) {
  if (fused && kernels::may_fuse_decayed_sums(q, k, v, log_decay, state))
    return kernels::fused_decayed_sums(q, k, v, log_decay, state);
  const auto of_all = [&](const Tensor& x) { return x.expand({-1, v.size(1), -1, -1}); };
  return log_decay.defined() ? reference(of_all(q), of_all(k), v, log_decay, state) : undecayed(of_all(q), of_all(k), v, state);
}

}  // namespace ablate
