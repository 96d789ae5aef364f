#include "core/kernels/affine.h"

#include "ablate/operation.h"
#include "core/kernels/choice.h"
#include "core/kernels/cpu/affine.h"
#include "core/kernels/tiles_call.h"

namespace ablate::kernels {
namespace {

struct AffineSaved {
  enum : std::size_t { kX, kWeight, kBias };
};

cpu::AffineCall affine_call(const Saved& saved) {
  const auto &x = saved[AffineSaved::kX], &weight = saved[AffineSaved::kWeight], &bias = saved[AffineSaved::kBias];
  return {.tokens = x.numel() / x.size(-1),
          .in = static_cast<int>(x.size(-1)),
          .out = static_cast<int>(weight.size(0)),
          .weight = weight.const_data_ptr<float>(),
          .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
          .x = x.const_data_ptr<float>(),
          .product = product()};
}

cpu::AffineCall part_of(cpu::AffineCall call, std::int64_t begin, std::int64_t end) {
  call.tokens = end - begin, call.x += begin * call.in;
  return call;
}

Tensor forward_of_affine(const Saved& saved) {
  const auto call = affine_call(saved);
  auto sizes = saved[AffineSaved::kX].sizes().vec();
  sizes.back() = call.out;
  auto y = empty(sizes, saved[AffineSaved::kX].options().requires_grad(false));
  auto* const to = y.mutable_data_ptr<float>();
  share_tiles(call.tokens, parts_for_threads(tiles_of(call.tokens)), cpu::affine_scratch(call),
              [&](std::int64_t, std::int64_t begin, std::int64_t end, float* scratch) {
                form().affine(part_of(call, begin, end), scratch, to + begin * call.out);
              });
  return y;
}

std::vector<Tensor> backward_of_affine(const Tensor& gradient, const Saved& saved, bool of_x) {
  const auto call = affine_call(saved);
  const auto threads = parts_for_threads(tiles_of(call.tokens));
  const auto dy = gradient.contiguous();
  const auto options = dy.options().requires_grad(false);
  auto dx = of_x ? empty(saved[AffineSaved::kX].sizes(), options) : Tensor();
  // One row for each thread.
  auto d_weight = empty({threads, call.out, call.in}, options),
       d_bias = call.bias != nullptr ? empty({threads, call.out}, options) : Tensor();
  const auto* const from = dy.const_data_ptr<float>();
  auto* const to_x = of_x ? dx.mutable_data_ptr<float>() : nullptr;
  auto* const to_weight = d_weight.mutable_data_ptr<float>();
  auto* const to_bias = d_bias.defined() ? d_bias.mutable_data_ptr<float>() : nullptr;
  share_tiles(call.tokens, threads, cpu::affine_scratch(call),
              [&](std::int64_t i, std::int64_t begin, std::int64_t end, float* scratch) {
                form().affine_backward(part_of(call, begin, end), scratch, from + begin * call.out,
                                       {to_x != nullptr ? to_x + begin * call.in : nullptr, to_weight + i * call.out * call.in,
                                        to_bias != nullptr ? to_bias + i * call.out : nullptr});
              });
  return {dx, sum_of_threads(d_weight), sum_of_threads(d_bias)};
}

/// True if the sizes fit the form. If not, the reference runs: it accepts the sizes, or its error says what is wrong with them.
bool affine_fits(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (x.dim() < 2 || weight.dim() != 2 || x.numel() == 0) return false;
  const auto in = x.size(-1), out = weight.size(0);
  // Fewer tokens than a tile cost as much as a whole tile.
  return weight.size(1) == in && in % cpu::kLanes == 0 && out % cpu::kLanes == 0 && out > 0 && in * out <= kLargestWeight &&
         x.numel() / in >= cpu::kTile && (!bias.defined() || bias.sizes().equals({out}));
}

}  // namespace

bool may_fuse_affine(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  std::vector<Tensor> tensors{x, weight};
  if (bias.defined()) tensors.push_back(bias);
  return tiles_outrun_products() && may_fuse(Choice::kFused, tensors) && affine_fits(x, weight, bias);
}

Tensor fused_affine(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool of_x = x.requires_grad();
  return with_gradient(
      {x, weight, bias},
      [&](Saved& saved) {
        saved = {x.contiguous(), weight.contiguous(), bias.defined() ? bias.contiguous() : Tensor()};
        return forward_of_affine(saved);
      },
      [of_x](const Tensor& gradient, const Saved& saved) { return backward_of_affine(gradient, saved, of_x); });
}

std::int64_t cpu::affine_scratch(const AffineCall& call) {
  const std::int64_t in = call.in, out = call.out;
  return in * out + 2 * kTile * (in + out) + out;
}

}  // namespace ablate::kernels

namespace ablate {

Tensor affine(const Tensor& x, const Tensor& weight, const Tensor& bias, bool fused) {
  if (fused && kernels::may_fuse_affine(x, weight, bias)) return kernels::fused_affine(x, weight, bias);
  return linear(x, weight, bias);
}

}  // namespace ablate
