// The SDK's norm and gate: the reference in plain operators, and the choice of the fused form.
#include "ablate/gated_norm.h"
#include "core/kernels/gated_norm.h"

namespace ablate {
namespace {

constexpr double kEpsilon = 1e-5;

Tensor normed(const Tensor& x, HeadNorm norm) {
  if (norm == HeadNorm::kNone) return x;
  const auto centred = norm == HeadNorm::kLayer ? x - x.mean(-1, true) : x;
  return centred * (centred.square().mean(-1, true) + kEpsilon).rsqrt();
}

}  // namespace

Tensor gated_norm(const Tensor& values, const Tensor& gate, HeadNorm norm, bool fused) {
  if (norm == HeadNorm::kNone && !gate.defined()) return values;
  if (fused && kernels::may_fuse_gated_norm(values, gate)) return kernels::fused_gated_norm(values, gate, norm);
  const auto y = normed(values, norm);
  return gate.defined() ? y * silu(gate) : y;
}

}  // namespace ablate
