#include "ablate/random_features.h"

#include <ATen/ops/linalg_qr.h>

namespace ablate {

/// Returns vectors [heads, count, d], float32 on the CPU.
Tensor FeatureVectors::draw(std::int64_t heads, std::int64_t count, std::int64_t d, const Generator& generator) const {
  const auto blocks = (count + d - 1) / d;
  const auto normal = [&] { return randn({heads, blocks, d, d}, generator, kDouble); };
  if (!orthogonal_) return normal().flatten(1, 2).narrow(1, 0, count).to(kFloat);
  const auto [q, r] = at::linalg_qr(normal());
  // With the signs of R's diagonal, Q is uniform among the rotations (Mezzadri 2007), for any factorisation.
  const auto rotation = (q * r.diagonal(0, -2, -1).sign().unsqueeze(-2)).transpose(-1, -2);
  const auto lengths = normal().norm(2, -1, true);  // norms of normal vectors in R^d: chi with d degrees
  return (rotation * lengths).flatten(1, 2).narrow(1, 0, count).to(kFloat);
}

FeatureVectors::FeatureVectors(std::int64_t heads, std::int64_t count, std::int64_t d, std::int64_t redraw,
                               const Generator& generator, bool orthogonal)
    : redraw_(redraw), orthogonal_(orthogonal), draws_(generator.clone()) {
  vectors = register_buffer("vectors", draw(heads, count, d, generator));
  seed_ = register_buffer("seed", randint(std::int64_t{1} << 62, {1}, generator));
  drawn = register_buffer("drawn", zeros({1}, kLong));
}

void FeatureVectors::on_step(std::int64_t step) {
  if (redraw_ == 0 || step % redraw_ != 0) return;
  const NoGradGuard no_grad;
  draws_.set_current_seed(static_cast<std::uint64_t>(seed_.item().toLong()) + static_cast<std::uint64_t>(step));
  vectors.copy_(draw(vectors.size(0), vectors.size(1), vectors.size(2), draws_));
  drawn.fill_(step);
}

LogFeatures log_features(FeatureKernel kernel, const Tensor& x, const Tensor& w) {
  const auto phase = x.matmul(w.transpose(-1, -2));
  const auto half = x.square().sum(-1, true) / 2;
  switch (kernel) {
    case FeatureKernel::kPositive:
      return {phase - half, {}};
    case FeatureKernel::kTrigonometric:
      return {half, stack({phase.cos(), phase.sin()}, -1).flatten(-2)};
    case FeatureKernel::kHyperbolic:
      break;
  }
  return {stack({phase, -phase}, -1).flatten(-2) - half, {}};
}

}  // namespace ablate
