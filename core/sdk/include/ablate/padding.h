// What padding means to a compression: which tokens are none, and which slots an item therefore has.
#pragma once

#include <torch/types.h>

#include "ablate/rate.h"

namespace ablate {

/// Zeros under the mask, whatever stood there; gradients there are 0 too. x is not changed. @param x [batch, heads, length,
/// channels]
/// @param mask [batch, length] bool, true = a token; undefined: x itself is returned.
inline torch::Tensor clear_padding(const torch::Tensor& x, const torch::Tensor& mask) {
  // Filling, not multiplying: NaN times 0 is NaN.
  return mask.defined() ? x.masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(-1), 0) : x;
}

/// [batch, 1, rate.slots(length)] bool, true where slot j < rate.slots(tokens of the item): Memory::slots (compression.h).
/// @param mask [batch, length] bool; undefined: the result is undefined too. On the mask's device.
inline torch::Tensor existing_slots(Rate rate, const torch::Tensor& mask) {
  if (!mask.defined()) return {};
  const auto count = (mask.sum(-1) * rate.numerator + (rate.denominator - 1)).floor_divide(rate.denominator);
  return torch::arange(rate.slots(mask.size(1)), count.options()) < count.view({-1, 1, 1});
}

}  // namespace ablate
