// The SDK's short convolution: the reference in plain operators, and the choice of the fused form.
#include "ablate/short_convolution.h"
#include "core/kernels/short_convolution.h"

namespace ablate {

Tensor short_convolution(const ShortConvolution& of, bool fused) {
  if (fused && kernels::may_fuse_short_convolution(of)) return kernels::fused_short_convolution(of);
  const auto& x = of.x;
  const auto tokens = of.filter.size(1);
  const auto before =
      of.before.defined() ? of.before : zeros({x.size(0), tokens - 1, x.size(2)}, x.options().requires_grad(false));
  const auto all = cat({before, x}, 1);
  Tensor sum;
  for (std::int64_t t = 0; t < tokens; ++t) {
    const auto part = all.narrow(1, t, x.size(1)) * of.filter.select(1, t);
    sum = sum.defined() ? sum + part : part;
  }
  return silu(of.bias.defined() ? sum + of.bias : sum);
}

}  // namespace ablate
