#include "ablate/dropout.h"

#include <ATen/ops/empty_like.h>

#include <cmath>
#include <limits>

#include "ablate/masked_softmax.h"
#include "ablate/operation.h"

namespace ablate {
namespace {

constexpr std::int64_t kWeights = 1 << 20;  // maximum number of weights that exist at one time

/// Dropout mask: 0 or 1 / (1 - p).
Tensor factors(const Tensor& like, double p, const Generator& generator) {
  return at::empty_like(like).bernoulli_(1 - p, generator).div_(1 - p);
}

/// Queries [begin, begin + count) of a call, in float32 at least.
struct Piece {
  Tensor q, k, v;
  std::int64_t begin;
  double scale;

  Tensor weights(const Tensor& mask, bool causal) const {
    auto scores = q.matmul(k.transpose(-1, -2)) * scale;
    constexpr double nothing = -std::numeric_limits<double>::infinity();
    if (mask.defined()) {
      const auto own = mask.size(-2) == 1 ? mask : mask.narrow(-2, begin, q.size(2));
      scores = scores.masked_fill(own.logical_not(), nothing);
    }
    if (causal)
      scores = scores.masked_fill(ones({q.size(2), k.size(2)}, scores.options().dtype(kBool)).triu(begin + 1), nothing);
    return scores.softmax(-1);
  }
};

/// Calls f with every piece, first to last, so that the backward pass repeats the draws of the forward pass.
template <class F>
void each_piece(const Tensor& q, const Tensor& k, const Tensor& v, const F& f) {
  const auto queries = widened(q), keys = widened(k), values = widened(v);
  const auto rows = std::max<std::int64_t>(1, kWeights / std::max<std::int64_t>(1, q.size(0) * q.size(1) * k.size(2)));
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  for (std::int64_t begin = 0; begin < q.size(2); begin += rows)
    f(Piece{queries.narrow(2, begin, std::min(rows, q.size(2) - begin)), keys, values, begin, scale});
}

}  // namespace

Tensor drop(const Tensor& x, double p, const Generator& generator) { return p > 0 ? x * factors(x.detach(), p, generator) : x; }

Tensor dropped_attention(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& mask, bool causal,
                         double p, const Generator& generator) {
  const auto before = generator.clone();  // generator for the backward pass
  const auto forward = [&](Saved& saved) {
    saved = {queries, keys, values, mask};
    std::vector<Tensor> pieces;
    each_piece(queries, keys, values, [&](const Piece& piece) {
      const auto weights = piece.weights(mask, causal);
      pieces.push_back((weights * factors(weights, p, generator)).matmul(piece.v).to(queries.scalar_type()));
    });
    return cat(pieces, 2);
  };
  const auto backward = [causal, p, before](const Tensor& gradient, const Saved& saved) -> std::vector<Tensor> {
    const auto draws = before.clone();
    std::vector<Tensor> of_queries;
    Tensor of_keys, of_values;
    each_piece(saved[0], saved[1], saved[2], [&](const Piece& piece) {
      const auto weights = piece.weights(saved[3], causal), mask_of = factors(weights, p, draws);
      const auto out = gradient.narrow(2, piece.begin, piece.q.size(2)).to(weights.scalar_type());
      const auto of_weights = out.matmul(piece.v.transpose(-1, -2)) * mask_of;
      const auto of_scores = weights * (of_weights - (of_weights * weights).sum(-1, true)) * piece.scale;
      const auto of_k = of_scores.transpose(-1, -2).matmul(piece.q);
      const auto of_v = (weights * mask_of).transpose(-1, -2).matmul(out);
      of_queries.push_back(of_scores.matmul(piece.k).to(saved[0].scalar_type()));
      of_keys = of_keys.defined() ? of_keys + of_k : of_k;
      of_values = of_values.defined() ? of_values + of_v : of_v;
    });
    return {cat(of_queries, 2), of_keys.to(saved[1].scalar_type()), of_values.to(saved[2].scalar_type()), {}};
  };
  return with_gradient({queries, keys, values, mask}, forward, backward);
}

}  // namespace ablate
