// What padding means to a compression: which tokens are none, and which slots an item therefore has.
#pragma once

#include "ablate/rate.h"
#include "ablate/tensor.h"

namespace ablate {

/// Zeros under the mask, whatever stood there; gradients there are 0 too. x is not changed. @param x [batch, heads, length,
/// channels]
/// @param mask [batch, length] bool, true = a token; undefined: x itself is returned.
inline Tensor clear_padding(const Tensor& x, const Tensor& mask) {
  // Filling, not multiplying: NaN times 0 is NaN.
  return mask.defined() ? x.masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(-1), 0) : x;
}

/// [batch, 1, slots.of(length)] bool, true where slot j < slots.of(tokens of the item): Memory::slots (compression.h).
/// @param mask [batch, length] bool; undefined, or a fixed number of slots: the result is undefined. On the mask's device.
inline Tensor existing_slots(const Slots& slots, const Tensor& mask) {
  if (!mask.defined() || slots.fixed > 0) return {};
  const auto& rate = slots.rate;
  const auto count = (mask.sum(-1) * rate.numerator + (rate.denominator - 1)).floor_divide(rate.denominator);
  return arange(rate.slots(mask.size(1)), count.options()) < count.view({-1, 1, 1});
}

}  // namespace ablate
