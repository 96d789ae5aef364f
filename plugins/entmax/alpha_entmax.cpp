#include "alpha_entmax.h"

#include <ATen/ops/xlogy.h>

#include <cmath>

#include "ablate/operation.h"

namespace ablate::entmax {
namespace {

/// x to the power of an exponent. A single exponent is passed as a number, because torch has fast paths for some numbers: a
/// square root for 1/2, a copy for 1, and so on. The fast paths take a tenth of the time.
Tensor raised(const Tensor& x, const Tensor& exponent) {
  return exponent.numel() == 1 ? x.pow(exponent.item()) : x.pow(exponent);
}

/// Solves for p by Newton's method. For alpha up to 2, the sum of p is convex in tau and decreases as tau grows. At the first
/// tau, the sum is at least 1. So each step moves tau towards the solution and never beyond it.
Tensor solved(const Tensor& x, const Tensor& alpha) {
  // Each step divides a large sum by about e or more. Near the end, the steps converge quadratically.
  const auto steps = 8 + static_cast<int>(std::ceil(std::log(static_cast<double>(x.size(-1)))));
  // Sums in float32 come no closer to 1 than this. At the end, p is divided by its sum.
  const auto enough = 1 + (x.scalar_type() == at::kDouble ? 1e-12 : 1e-6);
  const auto power = (alpha - 1).reciprocal();
  const auto scaled = (x - x.amax(-1, true)) * (alpha - 1);
  // At this tau, the weight of the largest number is 1, so the sum is at least 1.
  auto tau = full({1}, -1, x.options()).expand_as(scaled.narrow(-1, 0, 1));
  Tensor p, sum;
  for (int i = 0; i <= steps; ++i) {
    const auto base = (scaled - tau).clamp_min(0);
    const auto slope = raised(base, power - 1).masked_fill(base == 0, 0);
    p = base * slope;
    sum = p.sum(-1, true);
    if (i == steps || sum.max().item().toDouble() <= enough) break;
    tau = tau + (sum - 1) / (power * slope.sum(-1, true));
  }
  return p / sum;  // removes the remaining rounding error
}

/// Sums the gradient of an expanded tensor to the shape of the original.
Tensor reduced(const Tensor& gradient, const Tensor& like) { return gradient.sum_to_size(like.sizes()); }

}  // namespace

Tensor alpha_entmax(const Tensor& x, const Tensor& alpha) {
  return with_gradient(
      {x, alpha},
      [&](Saved& saved) {
        auto p = solved(x, alpha);
        saved = {p, alpha};
        return p;
      },
      [](const Tensor& gradient, const Saved& saved) -> std::vector<Tensor> {
        const auto &p = saved[0], &exponents = saved[1];
        const auto some = p > 0;
        const auto s = raised(p, 2 - exponents).masked_fill(some.logical_not(), 0);
        const auto share = s / s.sum(-1, true);
        const auto of_x = s * (gradient - (gradient * share).sum(-1, true));
        const auto entropy = -at::xlogy(p, p);
        const auto slope = (p - share) / (exponents - 1).square() + (entropy - share * entropy.sum(-1, true)) / (exponents - 1);
        return {of_x, reduced((gradient * slope).sum(-1, true), exponents)};
      });
}

}  // namespace ablate::entmax
